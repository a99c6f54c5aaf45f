/**
 * Checks answers that only commands use: the client, which is bundled for browsers, checks those
 * that it reads itself.
 * @module
 */
import { CofferError } from '../client/index.ts'
import { isMembers } from '../client/shapes.ts'

const isListOf = (value: unknown, is: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(is)

const isText = (value: unknown): boolean => typeof value === 'string'

const isPermitting = (rule: unknown): boolean =>
  isMembers(rule) && isListOf(rule['permissions'], isText)

export const isAccess = (answer: unknown): boolean =>
  isMembers(answer) && isText(answer['text']) && isListOf(answer['steps'], isMembers)

export const isSimulation = (answer: unknown): boolean =>
  isMembers(answer) &&
  isListOf(answer['changes'], each => isMembers(each) && isListOf(each['samples'], isText))

export const isPermissionList = (answer: unknown): boolean =>
  isListOf(answer, each => isMembers(each) && isListOf(each['application_types'], isText))

export const isKeyList = (answer: unknown): boolean => isListOf(answer, isMembers)

export const isApplication = (answer: unknown): boolean =>
  isPermitting(answer) && isMembers(answer) && isListOf(answer['rules'], isPermitting)

/** @throws CofferError unless an answer is of that form: no vault gave it */
export async function answerOf<T>(
  is: (answer: unknown) => boolean,
  asked: T | PromiseLike<T>,
): Promise<T> {
  const answer = await asked
  if (is(answer)) return answer
  throw new CofferError('what answers is no Coffer', { code: 'not_coffer' })
}
