/**
 * Small projects that each break one rule about content, and neighbours that do not.
 * @module
 */
import type { Sample } from './structure-samples.ts'

const homes = 'clock, randomness, environment and console stay in their homes'

const banned: readonly Sample[] = [
  {
    rule: homes,
    says: 'lets each into its home, and all into tests and scripts',
    files: {
      'src/server/process/system.ts': `import { randomBytes } from 'node:crypto'\nDate.now()`,
      'src/cli/serve.ts': `console.error(process.env)\nimport { randomBytes } from './system.ts'`,
      'src/main.ts': 'process.exit(1)',
      'test/a.test.ts': 'new Date(), Math.random(), console.log(process.env)',
      'scripts/build.ts': 'process.exit(Date.now())',
    },
    finds: [],
  },
  {
    rule: homes,
    says: 'lets names in texts, other objects and fixed dates pass',
    files: {
      'src/a.ts': `// Date.now()\n'Math.random()'\nnew Date(0)\nDate.UTC(1)`,
      'src/b.ts': 'deps.now()\nlog.console.error',
    },
    finds: [],
  },
  {
    rule: homes,
    says: 'refuses the clock and randomness everywhere else, also in the rest of the cli',
    files: {
      'src/a.ts': 'const now = Date.now\nnew Date()\nDate()\nglobalThis.performance.now()',
      'src/cli/serve.ts': 'Date.now()\ncrypto.getRandomValues(x)',
      'src/b.ts': `import { randomUUID as id, createHash } from 'node:crypto'`,
      'src/server/process/system.ts': 'Math.random()',
    },
    finds: [
      'src/a.ts:1: Date.now is the clock',
      'src/a.ts:2: Date.now is the clock',
      'src/a.ts:3: Date.now is the clock',
      'src/a.ts:4: performance.now is the clock',
      'src/cli/serve.ts:1: Date.now is the clock',
      'src/cli/serve.ts:2: crypto.getRandomValues is randomness',
      'src/b.ts:1: randomUUID is randomness',
      'src/server/process/system.ts:1: Math.random is guessable randomness',
    ],
  },
  {
    rule: homes,
    says: 'refuses the environment, the console and the exit below the command line',
    files: {
      'src/a.ts': `process['env']\nconst { env: e } = process\nBun.env.X`,
      'src/b.ts': `import { env } from 'node:process'\nconsole.log(1)\nprocess.exit(1)`,
    },
    finds: [
      'src/a.ts:1: process.env is the environment',
      'src/a.ts:2: process.env is the environment',
      'src/a.ts:3: Bun.env is the environment',
      'src/b.ts:1: env is the environment',
      'src/b.ts:2: console.log is the console',
      'src/b.ts:3: process.exit is the end of the process',
    ],
  },
  {
    rule: 'no loose type and no test that runs alone',
    says: 'lets unknown, const, and the words in a text pass',
    files: { 'src/a.ts': `const a = b as unknown\nconst c = ['any'] as const\nlist.only()` },
    finds: [],
  },
  {
    rule: 'no loose type and no test that runs alone',
    says: 'refuses any in each place, and test.only',
    files: {
      'src/a.ts': 'const a = b as any\nconst c = (d: any[]) => d',
      'test/a.test.ts': `test.only('a', f)\ndescribe.only('a', f)`,
    },
    finds: [
      'src/a.ts:1: the type any',
      'src/a.ts:2: the type any',
      'test/a.test.ts:1: a test that runs alone',
      'test/a.test.ts:2: a test that runs alone',
    ],
  },
  {
    rule: 'a sentence of a comment has a subject',
    says: 'lets questions of callers, clauses behind a subject, and texts pass',
    files: {
      'src/a.ts': `/** Tells what is wrong,\n * of which kind, and\n * who asked. */\n'What?'`,
      'src/client/interface.ts': '/** Whether it is there. */',
      'test/support/tidy/text-samples.ts': '/** Whether it is there. */',
      'test/a.test.ts': `test('what is there', () => {})\n// However it is.`,
    },
    finds: [],
  },
  {
    rule: 'a sentence of a comment has a subject',
    says: 'refuses one that begins with a clause, in comments of each kind',
    files: {
      'src/a.ts': `/**\n * What it is.\n */\n// Of a row.\n/** Whether it is. */`,
      'test/a.test.ts': '// What it is.',
      'examples/a.ts': '/** How it is. */',
    },
    finds: [
      'src/a.ts:2: a sentence without a subject',
      'src/a.ts:4: a sentence without a subject',
      'src/a.ts:5: a sentence without a subject',
      'test/a.test.ts:1: a sentence without a subject',
      'examples/a.ts:1: a sentence without a subject',
    ],
  },
  {
    rule: 'no forgotten mark in a comment',
    says: 'lets the words pass in a text',
    files: { 'src/a.ts': `// A todo list.\nconst a = '// TODO'\nconst b = /FIXME/` },
    finds: [],
  },
  {
    rule: 'no forgotten mark in a comment',
    says: 'refuses them in comments of each kind, also the last one',
    files: {
      'src/a.ts': '/** TODO: a */\nconst a = 1\n// @ts-ignore\nb()\n\nc( /* FIXME */ )',
      'src/b.ts': 'a()\n// TODO',
    },
    finds: [
      'src/a.ts:2: TODO above or before this line',
      'src/a.ts:4: @ts-ignore above or before this line',
      'src/a.ts:6: FIXME above or before this line',
      'src/b.ts:2: TODO above or before this line',
    ],
  },
]

const hash = `sha512-${'a'.repeat(86)}==`

/** Makes a lock file from the requests of package.json and of each package. */
const lockOf = (wanted: object, needs: Readonly<Record<string, object>> = {}) => {
  const packages = Object.entries(needs).map(([key, of]) => [key, [`${key}@1.0.0`, '', of, hash]])
  return {
    'bun.lock': JSON.stringify({
      workspaces: { '': wanted },
      packages: Object.fromEntries(packages),
    }),
  }
}

const folder = (...names: readonly string[]): string => ['', ...names, ''].join('/')

const texts: readonly Sample[] = [
  {
    rule: 'every file says what it is',
    says: 'lets a docblock with its module pass, also below a #! line',
    files: {
      'src/a.ts': '/**\n * A.\n * @module\n */\nexport {}',
      'scripts/b.ts': '#!/usr/bin/env bun\n/** B. @module */\n',
      'test/a.test.ts': `import { test } from 'bun:test'`,
    },
    finds: [],
  },
  {
    rule: 'every file says what it is',
    says: 'refuses no docblock, one without its module, one that comes late, a plain comment',
    files: {
      'src/a.ts': 'export {}',
      'src/b.ts': '/** B. */\nexport {}\n/** @module */',
      'src/c.ts': `import './a.ts'\n/** C. @module */`,
      'src/d.ts': '/* D. @module */',
    },
    finds: ['a', 'b', 'c', 'd'].map(
      name => `src/${name}.ts: does not open with a docblock that has @module`,
    ),
  },
  {
    rule: 'no text speaks of one machine',
    says: 'lets common folders and addresses pass',
    files: {
      'README.md': 'Put it in /usr/local/bin or /var/lib/coffer. See https://example.com/root/a.',
      'src/a.ts': `'/$bunfs/root/coffer', 'src/work/a.ts'`,
    },
    finds: [],
  },
  {
    rule: 'no text speaks of one machine',
    says: 'refuses home and work folders and registries, in any file',
    files: {
      'README.md': `See ${folder('home', 'someone')}`,
      'src/a.ts': `ok\n'${folder('work', 'main')}'`,
      '.ci/run': `cd ${folder('root')}`,
      '.npmrc': `registry=https://${['registry', 'example', 'org'].join('.')}/`,
    },
    finds: ['README.md:1', 'src/a.ts:2', '.ci/run:1', '.npmrc:1'].map(
      place => `${place}: an address of one machine or registry`,
    ),
  },
  {
    rule: 'packages are pinned',
    says: 'lets exact versions pass',
    files: {
      'package.json': '{"dependencies":{"a":"1.2.3"},"devDependencies":{"b":"1.0.0-rc.1"}}',
    },
    finds: [],
  },
  {
    rule: 'packages are pinned',
    says: 'refuses ranges, tags and addresses',
    files: {
      'package.json':
        '{"dependencies":{"a":"^1.2.3","b":"latest"},"devDependencies":{"c":"x/y","d":"npm:a@1"}}',
    },
    finds: ['a', 'b', 'c', 'd'].map(name => `package.json: ${name} is not pinned to one version`),
  },
  {
    rule: 'packages are pinned',
    says: 'refuses them also in the package of the site',
    files: { 'scripts/site/package.json': '{"devDependencies":{"a":"^1.2.3"}}' },
    finds: ['scripts/site/package.json: a is not pinned to one version'],
  },
  {
    rule: 'the lock file is whole and has no address',
    says: 'finds a package beside, around or above the one that needs it',
    files: lockOf(
      { dependencies: { a: '1.0.0' } },
      {
        a: { dependencies: { b: '^1.0.0', '@c/d': '^1.0.0' } },
        'a/b': { dependencies: { '@c/d': '^1.0.0', e: '1' } },
        'a/e': {},
        '@c/d': { optionalDependencies: { a: '1.0.0', f: '1.0.0' } },
        '@c/d/f': {},
      },
    ),
    finds: [],
  },
  {
    rule: 'the lock file is whole and has no address',
    says: 'refuses what is asked for but not locked, also where a package elsewhere has it',
    files: lockOf(
      { devDependencies: { a: '1.0.0', c: '1.0.0' } },
      { a: { optionalDependencies: { b: '1.0.0' } }, x: {}, 'x/b': {} },
    ),
    finds: ['bun.lock: c is not locked', 'bun.lock: b is not locked'],
  },
  {
    rule: 'the lock file is whole and has no address',
    says: 'refuses a download address, and a package without its hash',
    files: {
      'bun.lock': `{ "packages": {
        "a": ["a@1.0.0", "https://example.com/a.tgz", {}, "${hash}"],
        "b": ["b@1.0.0", "", {}, ""],
      } }`,
    },
    finds: ['bun.lock: a records a download address', 'bun.lock: b has no hash'],
  },
  {
    rule: 'there is one lock file',
    says: 'lets the one of Bun pass',
    files: { 'bun.lock': '{}', 'docs/yarn.lock': '' },
    finds: [],
  },
  {
    rule: 'there is one lock file',
    says: 'refuses that of another tool beside it',
    files: { 'bun.lock': '{}', 'package-lock.json': '{}', 'yarn.lock': '' },
    finds: ['package-lock.json', 'yarn.lock'].map(path => `${path}: a second lock file`),
  },
  {
    rule: 'the lock file agrees with package.json',
    says: 'lets equal lists pass',
    files: {
      'package.json': '{"dependencies":{"a":"1.0.0"}}',
      ...lockOf({ dependencies: { a: '1.0.0' } }),
    },
    finds: [],
  },
  {
    rule: 'the lock file agrees with package.json',
    says: 'refuses another version, a package too many and one too few',
    files: {
      'package.json': '{"dependencies":{"a":"1.0.1","b":"1.0.0"}}',
      ...lockOf({ dependencies: { a: '1.0.0', c: '1.0.0' } }),
    },
    finds: ['a', 'c', 'b'].map(name => `bun.lock: differs from package.json in ${name}`),
  },
]

export const contentSamples: readonly Sample[] = [...banned, ...texts]
