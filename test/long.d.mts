export declare const LONG: boolean;
export declare function inLong<Define>(define: Define): Define;
