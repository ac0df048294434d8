import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { build, type Plugin } from 'esbuild'
import { lean } from '#infra/bundle/lean.ts'
import { importTimes } from './bundles/process.ts'
import { fixed, type Table } from './report/table.ts'
import { median, spread } from './statistics.ts'

const ROOT = path.resolve(import.meta.dirname, '..')

interface Candidate {
  what: string
  name: string
  /** A module that uses it as the platform would. */
  code: string
  /** Packages to be installed beside those of {@link BASE}, with exact versions; without them it is the project's own. */
  install?: string[]
}

const POWERTOOLS = '2.36.0'
const SAMPLES = 15
const S3 = '3.1169.0'
const ours = (file: string): string => JSON.stringify(path.join(ROOT, file))

const CANDIDATES: Candidate[] = [
  {
    what: 'logs and metrics',
    name: 'shared/adapters/logger.ts (taken)',
    code: `import { createLogger } from ${ours('shared/adapters/logger.ts')}
      export const handler = (event) => createLogger('info', {}).metrics('m', { Group: 'g' }, { Latency: [1, 'Milliseconds'] }, event)`,
  },
  {
    what: 'logs and metrics',
    name: `@aws-lambda-powertools/logger + metrics ${POWERTOOLS}`,
    install: [`@aws-lambda-powertools/logger@${POWERTOOLS}`, `@aws-lambda-powertools/metrics@${POWERTOOLS}`],
    code: `import { Logger } from '@aws-lambda-powertools/logger'
      import { Metrics } from '@aws-lambda-powertools/metrics'
      const logger = new Logger({ serviceName: 's' })
      const metrics = new Metrics({ namespace: 'Platform' })
      export const handler = (event) => {
        logger.info('m', event)
        metrics.addMetric('Latency', 'Milliseconds', 1)
        metrics.publishStoredMetrics()
      }`,
  },
  {
    what: 'the bucket',
    name: 'shared/adapters/objects.ts (taken)',
    code: `import { createObjects } from ${ours('shared/adapters/objects.ts')}
      export const handler = (event) => createObjects('bucket', {}).get(event.key)`,
  },
  {
    what: 'the bucket',
    name: `@aws-sdk/client-s3 ${S3}`,
    install: [`@aws-sdk/client-s3@${S3}`],
    code: `import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
      const client = new S3Client({})
      export const handler = async ({ key, body }) => {
        await client.send(new PutObjectCommand({ Bucket: 'b', Key: key, Body: body }))
        await client.send(new DeleteObjectCommand({ Bucket: 'b', Key: key }))
        return client.send(new GetObjectCommand({ Bucket: 'b', Key: key }))
      }`,
  },
]

/** Beside what every function has anyway: a client of the table. */
const BASE = `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
  import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
  export const table = (key) => DynamoDBDocumentClient.from(new DynamoDBClient({})).send(new GetCommand(key))`

const BASE_PACKAGES = ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb'] as const

interface Built {
  file: string
  bytes: number
}

const SIGNATURE = '@aws-sdk/signature-v4-multi-region'

/** The functions' replacements without the one that S3's client cannot do with. */
const leanForS3: Plugin = {
  name: 'lean-for-s3',
  setup: (plugin) =>
    lean.setup({
      ...plugin,
      onResolve: (options, callback) => {
        if (!options.filter.test(SIGNATURE)) plugin.onResolve(options, callback)
      },
    }),
}

/** Builds a module as the functions are built. @param from the folder whose packages it takes */
const bundleOf = async (code: string, from: string, outfile: string): Promise<Built> => {
  await build({
    stdin: { contents: code, resolveDir: from, loader: 'ts', sourcefile: 'candidate.ts' },
    outfile,
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    // The replacements of the functions' bundles import packages themselves.
    nodePaths: [path.join(ROOT, 'node_modules')],
    plugins: [code.includes('@aws-sdk/client-s3') ? leanForS3 : lean],
  })
  return { file: outfile, bytes: (await stat(outfile)).size }
}

/** Installs the candidates, and the base in the project's versions, so that what they share is there once. */
const install = async (folder: string): Promise<void> => {
  const { dependencies } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'))
  const base = BASE_PACKAGES.map((name) => `${name}@${dependencies[name]}`)
  const packages = CANDIDATES.flatMap((candidate) => candidate.install ?? [])
  await writeFile(path.join(folder, 'package.json'), '{"private":true}')
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact']
  await promisify(execFile)('npm', ['install', ...options, ...base, ...packages], { cwd: folder })
}

/** What libraries would add to a function that has a client of the table, in size and cold import. */
export const libraries = async (): Promise<Table[]> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-libraries-'))
  try {
    await install(folder)
    const home = (candidate: Candidate): string => (candidate.install ? folder : ROOT)
    const bases = new Map<string, Built>()
    for (const from of [ROOT, folder]) {
      bases.set(from, await bundleOf(BASE, from, path.join(folder, `base-${bases.size}.cjs`)))
    }
    const built: [Candidate, Built][] = []
    for (const candidate of CANDIDATES) {
      const outfile = path.join(folder, `candidate-${built.length}.cjs`)
      built.push([candidate, await bundleOf(`${BASE}\n${candidate.code}`, home(candidate), outfile)])
    }
    const files = [...bases.values(), ...built.map(([, one]) => one)].map(({ file }) => file)
    const times = await importTimes(files, SAMPLES)
    const of = ({ file }: Built): number[] => times.get(file) ?? []
    const rows = built.map(([candidate, one]) => {
      const base = bases.get(home(candidate)) ?? one
      const more = of(one).map((ms, sample) => ms - (of(base)[sample] ?? Number.NaN))
      const kb = (one.bytes - base.bytes) / 1_000
      return [candidate.what, candidate.name, fixed(kb, 1), fixed(median(more), 1), fixed(spread(more), 1)]
    })
    const [base] = bases.values()
    const start = base ? `${fixed(base.bytes / 1_000, 0)} KB, ${fixed(median(of(base)), 0)} ms above bare Node` : ''
    return [
      {
        title: 'Libraries weighed',
        columns: ['for', 'candidate', 'KB more', 'cold import ms more', '±'],
        rows,
        notes: [
          `On top of a function that has the DynamoDB document client (${start}), built as the functions are; medians of ${SAMPLES} fresh processes each.`,
        ],
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
