#pragma once
// The program that is traced, as a child of this process, and the signals that reach this process instead of it. Not Node's
// own way: that gives no status of a program that a real-time signal ended, and handles signals between pieces of JavaScript.
#include <napi.h>

namespace gmt::addon {

/// startProgram(words, variables, lastWord): `NativeAddon` of extension/native/native.d.ts says what it does.
Napi::Value start_program(const Napi::CallbackInfo &info);
/// endOnSignals(lastWord)
void end_on_signals(const Napi::CallbackInfo &info);

}  // namespace gmt::addon
