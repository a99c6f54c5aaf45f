import type { Program } from '../../src/testing/child.ts'

export function findProgram(): Program
