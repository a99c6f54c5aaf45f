/**
 * Checks answers that only commands use: the client, which is bundled for browsers, checks those
 * that it reads itself.
 * @module
 */
import { CofferError } from '../client/index.ts'
import { areAll, isMembers, isText } from '../client/shapes.ts'

const isPermitting = (rule: unknown): boolean =>
  isMembers(rule) && areAll(rule['permissions'], isText)

export const isAccess = (answer: unknown): boolean =>
  isMembers(answer) && isText(answer['text']) && areAll(answer['steps'], isMembers)

export const isSimulation = (answer: unknown): boolean =>
  isMembers(answer) &&
  areAll(answer['changes'], isMembers) &&
  answer['changes'].every(({ samples }) => areAll(samples, isText))

export const isPermissionList = (answer: unknown): boolean =>
  areAll(answer, isMembers) && answer.every(({ application_types: types }) => areAll(types, isText))

/** A page that says how many there are. */
export const isCounted = (answer: unknown): boolean =>
  isMembers(answer) &&
  isMembers(answer['pagination']) &&
  Number.isSafeInteger(answer['pagination']['total_items'])

export const isKeyList = (answer: unknown): boolean => areAll(answer, isMembers)

export const isApplication = (answer: unknown): boolean =>
  isPermitting(answer) &&
  isMembers(answer) &&
  areAll(answer['rules'], isMembers) &&
  answer['rules'].every(isPermitting)

/** @throws CofferError unless an answer is of that form: no vault gave it */
export async function answerOf<T>(
  is: (answer: unknown) => boolean,
  asked: T | PromiseLike<T>,
): Promise<T> {
  const answer = await asked
  if (is(answer)) return answer
  throw new CofferError('what answers is no Coffer', { code: 'not_coffer' })
}
