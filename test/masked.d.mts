/** `text` as it is kept; `root`: of the repository. `isOfRun`: a program ran, so also numbers of processes, times and shares differ. */
export declare function masked(text: string, root: string, isOfRun: boolean): string;
/** A text whose numbers no run repeats. */
export declare function withoutNumbers(text: string): string;
