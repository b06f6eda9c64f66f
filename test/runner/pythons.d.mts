export declare function pythons(): string[];
