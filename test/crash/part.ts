/**
 * What a part of the crash campaign is: a function of a seed and a size, and what it found.
 * @module
 */

/** How much of a campaign is run: the figures of a release, or a sample for every change. */
export type Size = 'full' | 'short'

export interface PartOptions {
  readonly seed: number
  readonly size: Size
  /** An empty folder on a disk, for this part alone; its owner removes it. */
  readonly folder: string
  /** Tells the person how far it is. */
  readonly say: (line: string) => void
}

export interface PartResult {
  /** Rows of the table, in order: what was counted and how much of it. */
  readonly figures: Readonly<Record<string, number | string>>
  /** Each is a promise that was broken; none is a pass. */
  readonly failures: readonly string[]
  /** Why the part could not run here, such as a tool that is not installed. */
  readonly skipped?: string
}

export type Part = (options: PartOptions) => Promise<PartResult>
