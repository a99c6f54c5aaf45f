/**
 * A guard: a place where the program decides. It has outcomes, which a test must reach, and
 * mutants, which a test must catch.
 * @module
 */
import ts from 'typescript'

/** A change of the text between two positions. */
export interface Mutant {
  readonly change: string
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Distinguishes outcomes: by the truth of the expression, its absence, or that it was reached. */
type ProbeKind = 'truth' | 'missing' | 'reach'

export interface Guard {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly text: string
  /** Around an expression, or between two statements if both positions are equal. */
  readonly probe: { readonly kind: ProbeKind; readonly start: number; readonly end: number }
  /** By the index under which a probe counts. */
  readonly outcomes: readonly string[]
  readonly mutants: readonly Mutant[]
}

/** Context for visiting a node. */
export interface Visit {
  readonly source: ts.SourceFile
  readonly checker: ts.TypeChecker
  readonly file: string
}

/** The only outcome of a place that just has to be reached. */
export const reached = ['reached'] as const

interface Found {
  readonly kind: ProbeKind
  readonly outcomes: readonly string[]
  readonly mutants: readonly Mutant[]
  /** The node that the probe surrounds, or its position. */
  readonly probed: ts.Node | number
}

export const makeGuard = ({ source, file }: Visit, node: ts.Node, found: Found): Guard => {
  const { kind, outcomes, mutants, probed } = found
  const [start, end] =
    typeof probed === 'number' ? [probed, probed] : [probed.getStart(source), probed.end]
  return {
    file,
    line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
    text: node.getText(source).replaceAll(/\s+/g, ' '),
    probe: { kind, start, end },
    outcomes,
    mutants,
  }
}

export const replaceNode = (
  { source }: Visit,
  node: ts.Node,
  change: string,
  text: string,
): Mutant => ({ change, start: node.getStart(source), end: node.end, text })
