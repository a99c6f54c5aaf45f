/**
 * The program that this process runs, for processes of the same.
 * @module
 */

/** In front of the names of the files that are inside a compiled program. */
const compiledPrefix = '/$bunfs/'

/**
 * The very file that this process runs, also when it was replaced or removed since. By `self` each
 * process may follow it; by number none may where the file gives capabilities.
 */
export const ownProgram = (): string[] => [
  '/proc/self/exe',
  ...(Bun.main.startsWith(compiledPrefix) ? [] : [Bun.main]),
]
