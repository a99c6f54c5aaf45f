/**
 * What an answer has to look like before anything of it is used: what answers may be no vault, and
 * types say nothing of that. All else of an answer is as types say it.
 * @module
 */

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null

export const isMembers = (value: unknown): value is Members =>
  isObject(value) && !Array.isArray(value)

const areAll = <T>(value: unknown, is: (each: unknown) => each is T): value is readonly T[] =>
  Array.isArray(value) && value.every(is)

const isText = (value: unknown): value is string => typeof value === 'string'

/** A thing, a list or nothing. */
export const isThings = (content: unknown): boolean => content === undefined || isObject(content)

export const isAny = (): boolean => true

export const isToken = (content: unknown): content is Members =>
  isMembers(content) &&
  isText(content['id']) &&
  (content['containers'] === undefined || areAll(content['containers'], isText))

/** A page or a stretch of them. */
export const isTokenList = (content: unknown): boolean =>
  isMembers(content) && isMembers(content['pagination']) && areAll(content['data'], isToken)

export const isApplication = (content: unknown): boolean =>
  isMembers(content) &&
  isText(content['id']) &&
  areAll(content['permissions'], isText) &&
  areAll(content['rules'], isMembers)

/** The id alone where what was sent was no token. */
const isMade = (token: unknown): boolean => token === undefined || isText(token) || isToken(token)

const isResult = (value: unknown): value is Members =>
  isMembers(value) &&
  Number.isInteger(value['index']) &&
  isText(value['path']) &&
  isMade(value['token']) &&
  (value['error'] === undefined || isMembers(value['error']))

/** What became of each value of a bulk. */
export const isResults = (content: unknown): boolean =>
  isMembers(content) && areAll(content['results'], isResult)

/** Of a problem, what was expected where; what is not as it must be is left out. */
export const errorsIn = (errors: unknown): Readonly<Record<string, readonly string[]>> =>
  isMembers(errors)
    ? Object.fromEntries(
        Object.entries(errors).filter((each): each is [string, string[]] =>
          areAll(each[1], isText),
        ),
      )
    : {}
