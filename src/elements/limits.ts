/**
 * Bounds of the card fields, which run in browsers without the server's bounds.
 * @module
 */

// Cards; the same as in `limits.ts` of the server, which a test compares
export const cardDigitsMin = 13
export const cardDigitsMax = 19
export const cvcDigitsMin = 3
export const cvcDigitsMax = 4
/** decision: by ISO/IEC 7813 a card shows 26 characters at most; people have longer names. */
export const nameCharsMax = 100

// Settings of the shop's page
export const labelCharsMax = 200
export const languageCharsMax = 35
export const stylePropertiesMax = 40
export const styleValueCharsMax = 200
export const keyCharsMax = 200
/** Length of a name of a wrong option that an error repeats. */
export const nameCharsShownMax = 100
export const requestCharsMax = 64 * 1_024

// Time
/** Time for the frame to appear, and for a token to be made. */
export const timeoutMsDefault = 15_000
export const timeoutMsMax = 120_000
/** decision: once the frame has loaded, its fields appear at once, or never. */
export const frameBeginsMsMax = 5_000
/** decision: a message between frame and page takes at most this much longer. */
export const messageMsMax = 1_000
/** decision: a browser takes at most this long to tell a field that it was left. */
export const leaveMsMax = 500
export const leaveWaitMs = 20
/** The first retry waits anything up to this; the bound doubles from there. */
export const retryWaitMsFirst = 100
export const retryWaitMsMax = 5_000
export const retriesMax = 3
/** decision: 128 bits, about as many as a UUID has. */
export const idempotencyKeyBytes = 16
/** decision: as hard to guess as an idempotency key. */
export const fieldIdBytes = 16

// Sight of a field
/**
 * decision: a field counts as seen if less of it is not. Where a layout has fractions of pixels,
 * browsers tell of 0.05 at an edge that is seen, and of 0.48 where a page is scaled.
 */
export const fieldHiddenPxMax = 0.5
/** A browser tells of each step of this many. */
export const fieldSightSteps = 100

// Size of the frame in the shop's page
/** Room around the fields for the focus ring (`#main` in `card.css`); it overlaps the page. */
export const frameEdgePx = 4
export const frameHeightPxFirst = 160
export const frameHeightPxMax = 1_000

/** Digits that an answer must hide: a single one would follow from the Luhn check. */
export const hiddenDigitsMin = 2
