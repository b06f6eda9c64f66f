/** In a window's `stream`: which one it is was not reported. */
export const STREAM_UNKNOWN = 0xffff_ffff_ffff_ffffn;
