/**
 * The memory that a caller holds, about: its rules, and those of the applications behind it, may
 * have a megabyte of texts.
 * @module
 */
import type { Grants, Rule } from './access.ts'
import type { Caller } from './caller.ts'

/** Bytes of a rule or a condition without its texts. */
const objectBytes = 200
const charBytes = 2

function ruleBytes({ description = '', container = '', conditions = [] }: Rule): number {
  const texts = [description, container, ...conditions.map(({ value }) => value)]
  const chars = texts.reduce((sum, { length }) => sum + length, 0)
  return objectBytes * (1 + conditions.length) + charBytes * chars
}

const grantsBytes = ({ rules }: Grants): number =>
  rules.reduce((sum, rule) => sum + ruleBytes(rule), objectBytes)

export const callerBytes = ({ grants, dependsOn }: Pick<Caller, 'grants' | 'dependsOn'>): number =>
  dependsOn.reduce((sum, behind) => sum + grantsBytes(behind.grants), grantsBytes(grants))
