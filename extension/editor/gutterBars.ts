import * as vscode from 'vscode';
import { type LineHue, SHADE_COUNT } from '../protocol/lineHue';
import { hueColours } from './hueColours';
import { heatSvg } from './sparkSvg';

/** Bars in the gutter: one kind of decoration for each colour and height, made when it is wanted. */
export class GutterBars implements vscode.Disposable {
  private readonly types = new Map<number, vscode.TextEditorDecorationType>();

  constructor(private readonly levels: number) {}

  get made(): vscode.TextEditorDecorationType[] {
    return [...this.types.values()];
  }

  /** `level` from 0 to `levels` - 1. */
  of(hue: LineHue, level: number): vscode.TextEditorDecorationType {
    const key = (hue.hue * SHADE_COUNT + hue.shade) * this.levels + level;
    const known = this.types.get(key);
    if (known !== undefined) return known;
    const { light, dark } = hueColours(hue);
    const icon = (colour: string): { gutterIconPath: vscode.Uri; gutterIconSize: string } => ({
      gutterIconPath: vscode.Uri.parse(heatSvg(level, this.levels, colour)),
      gutterIconSize: 'contain',
    });
    const made = vscode.window.createTextEditorDecorationType({ light: icon(light), dark: icon(dark) });
    this.types.set(key, made);
    return made;
  }

  dispose(): void {
    for (const type of this.types.values()) type.dispose();
  }
}
