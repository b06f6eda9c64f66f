// What the native addon (native/addon) gives to TypeScript; only `engine` loads it. Answers are copied into buffers that
// JavaScript owns.
import type { TraceSource } from '../protocol/trace';

export interface NativeSession extends TraceSource {
  /** Cheap: revision only. */
  revision(): number;
  /** Resolves when all that is in the logs now has been read. */
  settle(): Promise<void>;
  /** Writes one *.gputrace file (through a temporary file and a rename). Rejects with a sentence. */
  save(file: string, sessionJson: string): Promise<void>;
  /** Stops reading. Queries afterwards throw. */
  close(): void;
}

export interface OpenOptions {
  /** Only what happened up to this time of the session (ns); nothing is read after it. */
  untilNs?: number;
}

export interface NativeAddon {
  /** Opens a trace directory (followed while it grows) or a saved *.gputrace. Throws an Error with one clear sentence. */
  open(path: string, options?: OpenOptions): NativeSession;
  /** Sets the control word in a trace directory (creates the file when absent). */
  setRecording(directory: string, on: boolean): void;
  version(): { wire: number; trace: number };
}
