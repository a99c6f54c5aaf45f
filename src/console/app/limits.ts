/**
 * Bounds of the console, which runs in browsers without the server's bounds.
 * @module
 */

/** The console locks after so long without a key press, a click or a touch. */
export const idleMsMax = 10 * 60_000
/** Time between two looks whether that has come. */
export const idleLookMs = 5_000
/** Characters of a value that are shown at first, and more at each request. */
export const shownCharsFirst = 2_000
export const shownCharsMore = 20_000
/** Characters of a value in a row of a list. */
export const previewCharsMax = 80
/** decision: no script puts more marks on one letter. */
export const marksMax = 6
/** Entries of a list within a page that are shown at first, and more at each request. */
export const shownItemsFirst = 20
export const shownItemsMore = 200
/** Characters of a reason: as many as the vault takes. */
export const reasonCharsMax = 200
/** Time without a key press after which a sample is sent to the vault. */
export const previewMs = 250
/** Rows of a table. */
export const rowsMax = 20
/** Applications whose names are shown in place of their ids: as many as one page has. */
export const namedApplicationsMax = 100
/** Permissions of an application in a row of a list. */
export const listedPermissionsMax = 3
/** Members of a value in a row of a list. */
export const listedMembersMax = 8
/** Pairs of metadata in a row of a list. */
export const listedPairsMax = 2
/** Words that are suggested at once: all fields. */
export const suggestionsMax = 11
/** Time between two looks at a log that is followed. */
export const followMs = 5_000
/** Time between two looks at the state of the vault, which makes samples as often. */
export const statusMs = 10_000
/** Kinds of refusals that the overview tells, the most frequent first. */
export const refusalsMax = 4
/** Units of a plot, which is drawn as wide as its place. */
export const plotWidth = 300
export const plotHeight = 90
/** Time after which an answer is no longer waited for. */
export const answerMsMax = 30_000
