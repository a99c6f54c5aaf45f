/**
 * The walk over one tree of pages, from its root.
 *
 * It checks each page for everything the engine takes for granted: number, kind, transaction,
 * bounds, key order, a single owner, and the counts of the tree's record. Pages that pass cannot
 * mislead the engine. Layout: after its header a page has the offset of each node, u16; a node is
 * size of data u16 u16 · flags u16 · length of key u16 · key · data. In a branch, size and flags
 * are the number of the page below, and the first key is meaningless.
 * @module
 */
import {
  type MetaPage,
  type TreeRecord,
  makePageBuffer,
  pageHeaderBytes,
  pageKinds,
  readU64,
  type DataFile,
  type PageBuffer,
} from './page-file.ts'

const metaPages = 2
const nodeHeaderBytes = 8
/** The data is in separate pages; the node holds page u64 · transaction u64 · count u64. */
const isInOverflow = 1
const overflowRecordBytes = 24
/** The engine's own limit. */
export const treeDepthMax = 32

/** Bytes within a buffer that later reads overwrite. */
export interface Span {
  readonly buffer: PageBuffer
  readonly from: number
  readonly to: number
}

/** The kind of a tree. */
export interface TreeShape {
  readonly compare: (a: Span, b: Span) => number
  /** Flags of its nodes, besides `isInOverflow`. */
  readonly nodeFlags: number
  /** Depth of the walk, from the root. */
  readonly levels: number
  /** Returns true if an entry is valid. */
  readonly accepts: (key: Span, value: Span) => boolean
}

/** The walk through a file, shared by its trees. */
export interface PageWalk {
  readonly file: DataFile
  readonly meta: MetaPage
  /** Names of the tables that must exist. */
  readonly names: readonly string[]
  /** By page: 1 if owned. Pages behind the end of the file have no entry. */
  readonly owners: Uint8Array
  /** By depth. */
  readonly buffers: PageBuffer[]
  readonly report: (page: number) => void
  /** Called with the number of pages that have just found an owner. */
  readonly onOwned?: (pages: number) => void
}

interface Tree {
  readonly walk: PageWalk
  readonly shape: TreeShape
  readonly depth: number
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
  /** If false, its counts mean nothing. */
  isWalked: boolean
}

/** A page and what its parent says of it: its keys are at least `low` and below `high`. */
interface PageVisit {
  readonly page: number
  readonly depth: number
  readonly transaction: number
  readonly low: Span | undefined
  readonly high: Span | undefined
}

/** A page that was read and whose header is valid. */
interface OpenedPage extends PageVisit {
  readonly buffer: PageBuffer
  readonly nodes: number
  readonly nodesFrom: number
}

interface Node {
  readonly size: number
  readonly flags: number
  readonly key: Span
}

/** Claims pages for an owner; `false` if one is already owned or not in the file. */
export function ownPages(walk: PageWalk, first: number, count: number): boolean {
  const { owners } = walk
  const end = first + count
  if (first < metaPages || end > owners.length) return false
  for (let page = first; page < end; page += 1) {
    if (owners[page] !== 0) return false
    owners[page] = 1
  }
  walk.onOwned?.(count)
  return true
}

function visitPage({ walk, depth }: Tree, step: PageVisit): OpenedPage | undefined {
  const { pageBytes } = walk.meta
  if (!ownPages(walk, step.page, 1)) return undefined
  const buffer = (walk.buffers[step.depth] ??= makePageBuffer(pageBytes))
  if (!walk.file.read(buffer, step.page * pageBytes)) return undefined
  const { view } = buffer
  const isLeaf = step.depth === depth
  const transaction = readU64(view, 8)
  const listBytes = view.getUint16(20, true)
  const nodesFrom = view.getUint16(22, true) + pageHeaderBytes
  const nodes = listBytes / 2
  const isWhole =
    readU64(view, 0) === step.page &&
    transaction <= step.transaction &&
    view.getUint16(18, true) === (isLeaf ? pageKinds.leaf : pageKinds.branch) &&
    Number.isInteger(nodes) &&
    nodes >= (isLeaf ? 1 : 2) &&
    pageHeaderBytes + listBytes <= nodesFrom &&
    nodesFrom <= pageBytes
  return isWhole ? { ...step, transaction, buffer, nodes, nodesFrom } : undefined
}

function readNode({ buffer, nodesFrom }: OpenedPage, index: number): Node | undefined {
  const { bytes, view } = buffer
  const at = view.getUint16(pageHeaderBytes + 2 * index, true) + pageHeaderBytes
  if (at % 2 !== 0 || at < nodesFrom || at + nodeHeaderBytes > bytes.length) return undefined
  const from = at + nodeHeaderBytes
  const to = from + view.getUint16(at + 6, true)
  if (to > bytes.length) return undefined
  const size = view.getUint32(at, true)
  return { size, flags: view.getUint16(at + 4, true), key: { buffer, from, to } }
}

/** Nodes start at even offsets, back to back. */
const bytesOfNode = ({ key }: Node, dataBytes: number): number =>
  (nodeHeaderBytes + key.to - key.from + dataBytes + 1) & ~1

/**
 * Reads data in separate pages: a run of them with one header. A run may be longer than its data
 * needs: when data is put again in one transaction, the engine keeps the run at its length.
 */
function readOverflow(tree: Tree, node: Node, transaction: number): Span | undefined {
  const { walk } = tree
  const { pageBytes } = walk.meta
  const { view } = node.key.buffer
  const page = readU64(view, node.key.to)
  const written = readU64(view, node.key.to + 8)
  const needed = Math.floor((pageHeaderBytes - 1 + node.size) / pageBytes) + 1
  const pages = readU64(view, node.key.to + 16)
  if (pages < needed || written > transaction) return undefined
  if (!ownPages(walk, page, pages)) return undefined
  const buffer = makePageBuffer(pages * pageBytes)
  if (!walk.file.read(buffer, page * pageBytes)) return undefined
  tree.overflowPages += pages
  const isWhole =
    readU64(buffer.view, 0) === page &&
    readU64(buffer.view, 8) === written &&
    buffer.view.getUint16(18, true) === pageKinds.overflow &&
    buffer.view.getUint32(20, true) === pages
  return isWhole ? { buffer, from: pageHeaderBytes, to: pageHeaderBytes + node.size } : undefined
}

function walkLeaf(tree: Tree, leaf: OpenedPage): boolean {
  const { compare, nodeFlags, accepts } = tree.shape
  let free = leaf.buffer.bytes.length - leaf.nodesFrom
  let before: Span | undefined
  for (let index = 0; index < leaf.nodes; index += 1) {
    const node = readNode(leaf, index)
    if (node === undefined || (node.flags & ~isInOverflow) !== nodeFlags) return false
    const { key } = node
    const isBig = (node.flags & isInOverflow) !== 0
    const dataBytes = isBig ? overflowRecordBytes : node.size
    if (key.to + dataBytes > leaf.buffer.bytes.length) return false
    if (before === undefined ? leaf.low && compare(key, leaf.low) < 0 : compare(key, before) <= 0) {
      return false
    }
    const inPage = { buffer: leaf.buffer, from: key.to, to: key.to + node.size }
    const value = isBig ? readOverflow(tree, node, leaf.transaction) : inPage
    if (value === undefined || !accepts(key, value)) return false
    free -= bytesOfNode(node, dataBytes)
    before = key
  }
  tree.entries += leaf.nodes
  const isBelow = before === undefined || !leaf.high || compare(before, leaf.high) < 0
  return free === 0 && isBelow
}

/** Returns the nodes of a branch if they are in order. */
function readBranch({ shape }: Tree, branch: OpenedPage): Node[] | undefined {
  const nodes: Node[] = []
  let free = branch.buffer.bytes.length - branch.nodesFrom
  let before = branch.low
  for (let index = 0; index < branch.nodes; index += 1) {
    const node = readNode(branch, index)
    if (node === undefined) return undefined
    if (index > 0) {
      if (before && shape.compare(node.key, before) <= 0) return undefined
      before = node.key
    }
    free -= bytesOfNode(node, 0)
    nodes.push(node)
  }
  const isBelow = !before || !branch.high || shape.compare(before, branch.high) < 0
  return free === 0 && isBelow ? nodes : undefined
}

function walkBranch(tree: Tree, branch: OpenedPage): boolean {
  const nodes = readBranch(tree, branch)
  if (nodes === undefined) return false
  if (branch.depth >= tree.shape.levels) {
    tree.isWalked = false
    return true
  }
  for (const [index, { size, flags, key }] of nodes.entries()) {
    walkPage(tree, {
      page: size + flags * 2 ** 32,
      depth: branch.depth + 1,
      transaction: branch.transaction,
      low: index === 0 ? branch.low : key,
      high: nodes[index + 1]?.key ?? branch.high,
    })
  }
  return true
}

function walkPage(tree: Tree, step: PageVisit): void {
  const opened = visitPage(tree, step)
  const isLeaf = step.depth === tree.depth
  if (isLeaf) tree.leafPages += 1
  else tree.branchPages += 1
  const isWhole = opened !== undefined && (isLeaf ? walkLeaf : walkBranch)(tree, opened)
  if (isWhole) return
  tree.isWalked = false
  tree.walk.report(step.page)
}

/**
 * Reports each damaged page of a tree.
 * @returns true if the record agrees with the pages, as far as that can be told
 */
export function walkTree(walk: PageWalk, record: TreeRecord, shape: TreeShape): boolean {
  const { root: page, depth } = record
  if (page === undefined ? depth !== 0 : depth < 1 || depth > treeDepthMax) return false
  const counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
  const tree = { walk, shape, depth, ...counts, isWalked: true }
  if (page !== undefined) {
    const { transaction } = walk.meta
    walkPage(tree, { page, depth: 1, transaction, low: undefined, high: undefined })
  }
  return (
    !tree.isWalked ||
    (tree.branchPages === record.branchPages &&
      tree.leafPages === record.leafPages &&
      tree.overflowPages === record.overflowPages &&
      tree.entries === record.entries)
  )
}
