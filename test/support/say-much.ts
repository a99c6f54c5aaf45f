/**
 * Says many lines at once, for a test of what its reader gets.
 * @module
 */
import { sayNow } from '../../src/server/process/system.ts'

for (let line = 0; line < Number(process.argv[2]); line += 1) sayNow(`${line} ${'x'.repeat(300)}`)
