/**
 * The parts of the crash campaign, by the names under which they are run.
 * @module
 */
import type { Part } from '../part.ts'

export const parts: Readonly<Record<string, Part>> = {}
