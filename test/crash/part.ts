/**
 * A part of the crash campaign: a function of a seed and a size, and its result.
 * @module
 */

/** Extent of a campaign: the figures of a release, or a sample for every change. */
export type Size = 'full' | 'short'

export interface PartOptions {
  readonly seed: number
  readonly size: Size
  /** An empty folder on a disk, for this part alone; its owner removes it. */
  readonly folder: string
  /** Tells the person its progress. */
  readonly say: (line: string) => void
}

export interface PartResult {
  /** Rows of the table, in order: name and count. */
  readonly figures: Readonly<Record<string, number | string>>
  /** Broken promises; the part passes if there are none. */
  readonly failures: readonly string[]
  /** Reason why the part could not run here, such as a tool that is not installed. */
  readonly skipped?: string
}

export type Part = (options: PartOptions) => Promise<PartResult>
