interface TrainingScript {
  name: string;
  line: string;
  mended: string;
  longer: string[];
}
export const TRAINING: TrainingScript[];
export function lineWith(file: string, code: string): number;
