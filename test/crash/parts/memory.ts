/**
 * A server that may have 256 MiB of memory. A kernel of its own gives it a control group for that:
 * `scripts/own-kernel memory`. Source: hardening H168.
 * @module
 */
import { workInLittleMemory } from '../hostile-load/memory.ts'
import { runCases } from '../hostile-load/run-cases.ts'
import type { Part } from '../part.ts'

/** The part `memory`. */
export const limitMemory: Part = options => runCases(options, [workInLittleMemory])
