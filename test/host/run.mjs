export async function runHost() {
  throw new Error('x');
}
