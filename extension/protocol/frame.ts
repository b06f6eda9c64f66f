/** A place in the program, as a stack names it. Line 0 and empty file: not known. */
export interface Frame {
  file: string;
  line: number;
  function: string;
}
