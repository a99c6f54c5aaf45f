/**
 * The program that this process runs, for processes of the same.
 * @module
 */

/** In front of the names of the files that are inside a compiled program. */
const compiledPrefix = '/$bunfs/'

const isCompiled = (): boolean => Bun.main.startsWith(compiledPrefix)

/**
 * The very file that this process runs, also when it was replaced or removed since. By `self` each
 * process may follow it; by number none may where the file gives capabilities.
 */
export const ownProgram = (): string[] => ['/proc/self/exe', ...(isCompiled() ? [] : [Bun.main])]

/** Where the binary is that this process runs; `undefined` of a run from source. */
export const ownBinary = (): string | undefined => (isCompiled() ? process.execPath : undefined)
