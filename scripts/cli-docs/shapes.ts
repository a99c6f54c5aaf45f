/**
 * What each command prints with `--json`: one object on one line of stdout. `test/docs/cli.test.ts`
 * runs each of them and looks whether it does.
 * @module
 */
import { Type, type TObject, type TProperties } from '@sinclair/typebox'

/** With these members and no other. */
const shape = (members: TProperties): TObject =>
  Type.Object(members, { additionalProperties: false })

const newKey = {
  tenant_id: Type.String(),
  application_id: Type.String(),
  key: Type.String({ description: 'of a management application; it is shown once' }),
}
const rows = Type.Record(Type.String(), Type.Integer(), { description: 'how many of each kind' })
const createdAt = Type.String({ description: 'the moment that it is of, RFC 3339' })

const damage = shape({
  kind: Type.String(),
  page: Type.Optional(Type.Integer({ description: 'of the file, where it is one of a page' })),
  ordinal: Type.Optional(Type.Integer({ description: 'of the row, where it is one of a row' })),
})

const finding = shape({
  level: Type.Union([Type.Literal('fault'), Type.Literal('warning'), Type.Literal('note')]),
  text: Type.String(),
})

const sealed = shape({
  sealed: Type.Boolean(),
  shares: Type.Integer({ description: 'that came so far' }),
  threshold: Type.Union([Type.Integer(), Type.Null()], {
    description: 'how many are needed; null while none came',
  }),
})

/** By the words of the command. */
export const shapes: Readonly<Record<string, TObject>> = {
  init: shape(newKey),
  dev: shape({
    base_url: Type.String(),
    tenant_id: Type.String(),
    management_key: Type.String(),
    private_key: Type.String({ description: 'has a rule that reveals' }),
    public_key: Type.String({ description: 'may only create and update' }),
  }),
  unseal: sealed,
  seal: sealed,
  'keys split': shape({
    shares: Type.Optional(Type.Array(Type.String(), { description: 'without --to-dir' })),
    files: Type.Optional(Type.Array(Type.String(), { description: 'with it' })),
  }),
  'keys join': shape({ file: Type.String() }),
  doctor: shape({ findings: Type.Array(finding) }),
  'app create': shape(newKey),
  backup: shape({
    file: Type.String(),
    bytes: Type.Integer(),
    created_at: createdAt,
    rows,
  }),
  restore: shape({ created_at: createdAt, rows }),
  verify: shape({
    damages: Type.Array(damage, { description: 'the first of them' }),
    more: Type.Integer({ description: 'those that are not shown' }),
    rows: Type.Union([rows, Type.Null()], { description: 'null where not all were read' }),
  }),
}
