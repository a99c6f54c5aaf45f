/**
 * Finds the program of this process, to start further processes of it.
 * @module
 */

/** Prefix of the names of files inside a compiled program. */
const compiledPrefix = '/$bunfs/'

const isCompiled = (): boolean => Bun.main.startsWith(compiledPrefix)

/**
 * The file that this process runs, even if it was replaced or removed since. Any process may follow
 * `self`; a link by process id may be refused if the file has capabilities.
 */
export const ownProgram = (): string[] => ['/proc/self/exe', ...(isCompiled() ? [] : [Bun.main])]

/** Path of the binary that this process runs; `undefined` if it runs from source. */
export const ownBinary = (): string | undefined => (isCompiled() ? process.execPath : undefined)
