/** In a window's `stream`: nobody told which one it is. */
export const STREAM_UNKNOWN = 0xffff_ffff_ffff_ffffn;
