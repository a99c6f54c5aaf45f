/**
 * `coffer/testing` in Node.js.
 * @module
 */
import { makeStartVault } from '../../src/testing/child.ts'
import { findProgram } from './program.cjs'

export const startVault = makeStartVault({ findProgram, wallMs: () => Date.now() })
