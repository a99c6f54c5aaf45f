/**
 * A queue in which tenants take turns, in each of them applications, and in each of those
 * credentials: a tenant may have any number of applications, and these any number of sessions, so
 * a turn for each credential would leave little to a tenant that has few.
 * @module
 */
import type { ownOrdinal, pagesOrdinal } from '../limits/work-limits.ts'

/** A caller, as far as its turns go. */
export interface CallerOfTurns {
  readonly tenantId: string
  readonly applicationId: string
  readonly credential: { readonly ordinal: number }
}

/** A caller; or a number, for work that is of no tenant, which has turns as a tenant has. */
export type TurnOwner = typeof ownOrdinal | typeof pagesOrdinal | CallerOfTurns

export interface TurnQueue<T> {
  readonly add: (owner: TurnOwner, item: T) => void
  readonly has: (owner: TurnOwner) => boolean
  /**
   * Removes the next item; those of its owners then come after those of all others.
   * @param isFit passes over credentials whose first item it is false for
   */
  readonly take: (isFit?: (item: T) => boolean) => T | undefined
}

/** Its children are in the order of their turns, and none of them is empty. */
interface Node<T> {
  readonly items: T[]
  readonly children: Map<string | number, Node<T>>
}

const makeNode = <T>(): Node<T> => ({ items: [], children: new Map() })

const pathOf = (owner: TurnOwner): readonly (string | number)[] =>
  typeof owner === 'number'
    ? [owner]
    : [owner.tenantId, owner.applicationId, owner.credential.ordinal]

function takeFrom<T>({ items, children }: Node<T>, isFit: (item: T) => boolean): T | undefined {
  for (const [key, child] of children) {
    const item = takeFrom(child, isFit)
    if (item === undefined) continue
    children.delete(key)
    if (child.items.length > 0 || child.children.size > 0) children.set(key, child)
    return item
  }
  const [first] = items
  return first !== undefined && isFit(first) ? items.shift() : undefined
}

export function makeTurnQueue<T>(): TurnQueue<T> {
  const root = makeNode<T>()
  return {
    add(owner, item) {
      let node = root
      for (const key of pathOf(owner)) {
        const child = node.children.get(key) ?? makeNode<T>()
        node.children.set(key, child)
        node = child
      }
      node.items.push(item)
    },
    has(owner) {
      let node: Node<T> | undefined = root
      for (const key of pathOf(owner)) node = node?.children.get(key)
      return node !== undefined
    },
    take: (isFit = () => true) => takeFrom(root, isFit),
  }
}
