/**
 * The bounds of the card fields, which run in browsers without the server's.
 * @module
 */

// Cards; as the vault takes them (`limits.ts` of the server; a test holds the two together)
export const cardDigitsMin = 13
export const cardDigitsMax = 19
export const cvcDigitsMin = 3
export const cvcDigitsMax = 4
/** decision: names on cards have 26 at most by ISO/IEC 7813; people have longer ones. */
export const nameCharsMax = 100

// What the shop's page may set
export const labelCharsMax = 200
export const languageCharsMax = 35
export const stylePropertiesMax = 40
export const styleValueCharsMax = 200
export const keyCharsMax = 200
/** Of the place of a fault that an error repeats. */
export const nameCharsShownMax = 100
export const requestCharsMax = 64 * 1_024

// Time
/** What the frame gets to appear in, and a token to be made in. */
export const timeoutMsDefault = 15_000
export const timeoutMsMax = 120_000
/** decision: once the browser has loaded what is in the frame, it is there at once, or never. */
export const frameBeginsMsMax = 5_000
/** decision: what the way between frame and page takes beyond that, at worst. */
export const messageMsMax = 1_000
/** decision: what the browser takes to tell a field that it was left, at worst. */
export const leaveMsMax = 500
export const leaveWaitMs = 20
/** The first wait before another attempt is anything up to this, and doubles from there. */
export const retryWaitMsFirst = 100
export const retryWaitMsMax = 5_000
export const retriesMax = 3
/** decision: 128 bits, as an UUID has them nearly. */
export const idempotencyKeyBytes = 16

// Size of the frame in the shop's page
/** Around the fields, for the ring of the focus (`#main` in `card.css`); it lies over the page. */
export const frameEdgePx = 4
export const frameHeightPxFirst = 160
export const frameHeightPxMax = 1_000

/** Digits that an answer must hide: one alone would follow from the others by the Luhn check. */
export const hiddenDigitsMin = 2
