/**
 * Contents of a binary, as CycloneDX: each package with a bundled file, both addons and Bun, with
 * its licence and the hash by which `bun.lock` pins it.
 *
 * It has no time and no random number, so that equal binaries have equal ones.
 * Source: the CycloneDX specification 1.6; package-url, type npm.
 * @module
 */
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { Builders, Factories } = Contrib.FromNodePackageJson
const builder = new Builders.ComponentBuilder(
  new Factories.ExternalReferenceFactory(),
  // A licence that is no single SPDX name is written as it is.
  new Contrib.License.Factories.LicenseFactory(() => {
    throw new Error('expressions of licences are not read')
  }),
)

interface Manifest {
  readonly name: string
  readonly version: string
}

const purlOf = ({ name, version }: Manifest): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

/** @returns hash of the npm package, in hexadecimal */
function lockedHash(lock: string, { name, version }: Manifest): string {
  const start = `["${name}@${version}", "",`
  const line = lock.split('\n').find(one => one.includes(start))
  const [, base64] = /"sha512-([\w+/=]+)"\],?$/.exec(line ?? '') ?? []
  if (base64 === undefined) throw new Error(`bun.lock does not pin ${name} ${version}`)
  return Buffer.from(base64, 'base64').toString('hex')
}

/** Returns the folder of the package that a file belongs to; nothing for a file of ours. */
export const packageFolder = (file: string): string | undefined =>
  /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]

function componentOf(root: string, folder: string, lock: string): Models.Component {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
  const component = builder.makeComponent(manifest, Enums.ComponentType.Library)
  if (component === undefined) throw new Error(`${folder} says no name`)
  component.purl = purlOf(manifest)
  component.bomRef.value = component.purl
  component.hashes.set(Enums.HashAlgorithm['SHA-512'], lockedHash(lock, manifest))
  return component
}

export interface Bundled {
  /** Root of the checkout. */
  readonly root: string
  /** Relative paths: the sources of the binary, and any file of the package that holds its Bun. */
  readonly files: readonly string[]
  readonly version: string
  /** Name of the released file. */
  readonly name: string
  /** In hexadecimal. */
  readonly sha256: string
}

/** @returns JSON with a line end */
export function printSbom({ root, files, version, name, sha256 }: Bundled): string {
  const lock = readFileSync(join(root, 'bun.lock'), 'utf8')
  const folders = new Set(files.flatMap(file => packageFolder(file) ?? []))
  const found = [...folders].map(folder => componentOf(root, folder, lock))
  // A package with an addon has its program and its addon in different folders.
  const components = [...new Map(found.map(component => [component.purl, component])).values()]
  const program = new Models.Component(Enums.ComponentType.Application, 'coffer', { version })
  program.bomRef.value = name
  program.hashes.set(Enums.HashAlgorithm['SHA-256'], sha256)
  for (const { bomRef } of components) program.dependencies.add(bomRef)
  const bom = new Models.Bom({
    components: new Models.ComponentRepository(components),
    metadata: new Models.Metadata({ component: program }),
  })
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  const serializer = new Serialize.JsonSerializer(normalizers)
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}
