/**
 * Checks answers before they are used: they may not come from a vault, and types prove nothing.
 * Unchecked parts are as typed.
 * @module
 */

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null

export const isMembers = (value: unknown): value is Members =>
  isObject(value) && !Array.isArray(value)

export const areAll = <T>(
  value: unknown,
  is: (each: unknown) => each is T,
): value is readonly T[] => Array.isArray(value) && value.every(is)

export const isText = (value: unknown): value is string => typeof value === 'string'

/** An object, a list or nothing. */
export const isThings = (content: unknown): boolean => content === undefined || isObject(content)

export const isAny = (): boolean => true

/** A deletion answers nothing. */
export const isNothing = (content: unknown): boolean => content === undefined

export const isNewSession = (content: unknown): boolean =>
  isMembers(content) && isText(content['nonce']) && isText(content['session_key'])

export const isToken = (content: unknown): content is Members =>
  isMembers(content) &&
  isText(content['id']) &&
  (content['containers'] === undefined || areAll(content['containers'], isText))

/** A page or a stretch of tokens. */
export const isTokenList = (content: unknown): boolean =>
  isMembers(content) && isMembers(content['pagination']) && areAll(content['data'], isToken)

export const isApplication = (content: unknown): boolean =>
  isMembers(content) &&
  isText(content['id']) &&
  areAll(content['permissions'], isText) &&
  areAll(content['rules'], isMembers)

/** An id alone replaces a value that was no token. */
const isMade = (token: unknown): boolean => token === undefined || isText(token) || isToken(token)

const isResult = (value: unknown): value is Members =>
  isMembers(value) &&
  Number.isInteger(value['index']) &&
  isText(value['path']) &&
  isMade(value['token']) &&
  (value['error'] === undefined || isMembers(value['error']))

/** Results of a bulk, one for each value. */
export const isResults = (content: unknown): boolean =>
  isMembers(content) && areAll(content['results'], isResult)

/** Lines of events, and the one that ends each page. */
export const isEventPage = (content: unknown): boolean =>
  areAll(content, isMembers) && content.at(-1)?.['type'] === 'page.end'

/** Expectations by path of a problem; malformed ones are left out. */
export const errorsIn = (errors: unknown): Readonly<Record<string, readonly string[]>> =>
  isMembers(errors)
    ? Object.fromEntries(
        Object.entries(errors).filter((each): each is [string, string[]] =>
          areAll(each[1], isText),
        ),
      )
    : {}
