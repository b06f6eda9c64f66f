export declare function pythons(): string[];
export declare function findPythonOnce(): void;
