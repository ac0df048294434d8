import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  CloudFormationClient,
  DeleteStackCommand,
  ListStackResourcesCommand,
  paginateDescribeStacks,
  type Stack,
  type StackResourceSummary,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation'
import {
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { Context } from '#infra/config.ts'
import { readStage, serviceStackOf, stackOutputs } from '../stage.ts'
import { deleteVersions } from '../versions.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CDK = join(ROOT, 'node_modules', '.bin', 'cdk')
const TAIL_LINES = 25
const HOUR_S = 3_600
/** Region of the edge's function. */
const EDGE_REGION = 'us-east-1'
/** Kinds of stacks in the order in which they are deleted: what reads from another goes before it. */
const KINDS = ['Operations', 'Service', 'Edge', 'Data']

/** Tag of what a proof creates, and may delete. */
export const PROOF_TAG = 'proof'

/** Settings and places of the proof of one stage. */
export interface StageOptions {
  /** Settings of the stage, `stage` among them. */
  context: Context
  /** Environment of the CDK and of other commands. */
  env: NodeJS.ProcessEnv
  /** Folder for assemblies and outputs. */
  folder: string
}

/** Runs a command to its end. @returns its output @throws {Error} with the end of its output */
const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece))
    child.once('error', reject)
    child.once('close', (code) => {
      const end = output.trimEnd().split('\n').slice(-TAIL_LINES).join('\n')
      if (code === 0) resolve(output)
      else reject(new Error(`${command.split('/').at(-1)} ${args.slice(0, 2).join(' ')} ended with ${code}:\n${end}`))
    })
  })

/** Name of the table into which a table is restored. */
const restoredName = (source: string): string => `${source}-proof`

/** Operations on the stage that a proof needs. */
export class ProvedStage {
  readonly name: string
  /** Names of the stacks that it creates. */
  readonly stackNames: string[]
  readonly #options: StageOptions
  readonly #stack: string
  readonly #prefix: string
  readonly #cloudformation = new CloudFormationClient({})
  readonly #edge: CloudFormationClient | undefined
  readonly #dynamodb = new DynamoDBClient({})
  readonly #s3 = new S3Client({})

  constructor(options: StageOptions) {
    const config = readStage(options.context)
    this.#options = options
    this.#stack = serviceStackOf(config)
    this.#prefix = `${config.prefix}-${config.stage}-`
    this.name = config.stage
    // In us-east-1, the function is in the stack of the others.
    const elsewhere = config.edge && config.region !== EDGE_REGION
    this.#edge = elsewhere ? new CloudFormationClient({ region: EDGE_REGION }) : undefined
    this.stackNames = [...KINDS]
      .reverse()
      .filter((kind) => kind !== 'Edge' || elsewhere)
      .map((kind) => this.#prefix + kind)
  }

  /** Returns true if a stack of this stage exists, whatever its state. */
  async exists(): Promise<boolean> {
    return (await this.#stacks()).length > 0
  }

  /** Returns true if a proof created the stage, false if something else did, and undefined if there is none. */
  async leftByProof(): Promise<boolean | undefined> {
    const stacks = await this.#stacks()
    if (stacks.length === 0) return undefined
    return stacks.every(({ stack }) => stack.Tags?.some(({ Key, Value }) => Key === PROOF_TAG && Value === 'true'))
  }

  /** Builds the functions. */
  async build(): Promise<void> {
    await run(process.execPath, ['infra/bundle.ts'], this.#options.env)
  }

  /** Deploys all stacks with the current bundles. @returns their resources by kind of stack */
  async deploy(changes: Context = {}): Promise<string> {
    const assembly = await this.#synth(changes)
    const args = ['deploy', '--all', '--app', assembly, '--require-approval', 'never', '--no-notices']
    await run(CDK, [...args, '--outputs-file', join(this.#options.folder, 'outputs.json')], this.#options.env)
    const stacks = await this.#stacks()
    const counts = await Promise.all(stacks.map(async (one) => (await this.#resources(one)).length))
    return `${counts.reduce((sum, count) => sum + count, 0)} resources in ${stacks.length} stacks`
  }

  async baseUrl(): Promise<string> {
    return (await stackOutputs(this.#stack, ['BaseUrl'])).BaseUrl
  }

  /** States of the stage's stacks, as CloudFormation names them. */
  async states(): Promise<string[]> {
    return (await this.#stacks()).map(({ stack }) => stack.StackStatus ?? '')
  }

  /** Replaces a function's bundle with one that throws as it loads, for as long as work takes. */
  async withBrokenBundle<T>(unit: string, work: () => Promise<T>): Promise<T> {
    const file = join(ROOT, 'dist', 'functions', unit, 'index.cjs')
    const kept = `${file}.kept`
    if (existsSync(kept)) renameSync(kept, file)
    renameSync(file, kept)
    try {
      writeFileSync(file, 'throw new Error("Broken on purpose, by npm run prove")\n')
      return await work()
    } finally {
      renameSync(kept, file)
    }
  }

  /** Rotates a ring. @param now without waiting until every function has read the key */
  async rotate(ring: string, now: boolean): Promise<void> {
    const args = ['ops/keys.ts', 'rotate', '--stage', this.name, '--ring', ring, ...(now ? ['--now'] : [])]
    await run(process.execPath, args, this.#options.env)
  }

  /**
   * Restores the table into a new one, looks for a record in it, and deletes it.
   * @returns seconds until it could be read (RTO), seconds that the newest point lay back (RPO), and its records
   */
  async restoreTable(mustHold: string): Promise<{ rto: number; rpo: number; records: number }> {
    const { TableName: source } = await stackOutputs(this.#stack, ['TableName'])
    const target = restoredName(source)
    const began = Date.now()
    const { ContinuousBackupsDescription } = await this.#dynamodb.send(
      new DescribeContinuousBackupsCommand({ TableName: source }),
    )
    const latest = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.LatestRestorableDateTime
    await this.#dynamodb.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: target,
        UseLatestRestorableTime: true,
      }),
    )
    try {
      await this.#until(async () => {
        const { Table } = await this.#dynamodb.send(new DescribeTableCommand({ TableName: target }))
        return Table?.TableStatus === 'ACTIVE'
      })
      const rto = (Date.now() - began) / 1_000
      const found = await this.#find(target, mustHold)
      if (!found.holds)
        throw new Error(`The restored table has ${found.records} records, and not the one of ${mustHold}`)
      return {
        rto,
        rpo: latest === undefined ? 0 : Math.max(0, began - latest.getTime()) / 1_000,
        records: found.records,
      }
    } finally {
      await this.#dynamodb.send(new DeleteTableCommand({ TableName: target }))
    }
  }

  /** Deletes an object and brings it back from the bucket's versions. @returns seconds until it could be read again (RTO) */
  async restoreObject(): Promise<number> {
    const { BucketName: Bucket } = await stackOutputs(this.#stack, ['BucketName'])
    const at = { Bucket, Key: `files/proof-${Date.now()}` }
    const content = 'Kept.'
    await this.#s3.send(new PutObjectCommand({ ...at, Body: content }))
    await this.#s3.send(new DeleteObjectCommand(at))
    const began = Date.now()
    const { DeleteMarkers = [] } = await this.#s3.send(new ListObjectVersionsCommand({ Bucket, Prefix: at.Key }))
    const marker = DeleteMarkers.find(({ Key, IsLatest }) => Key === at.Key && IsLatest)
    if (!marker) throw new Error('The bucket keeps no version of a deleted object')
    await this.#s3.send(new DeleteObjectCommand({ ...at, VersionId: marker.VersionId }))
    const { Body } = await this.#s3.send(new GetObjectCommand(at))
    const rto = (Date.now() - began) / 1_000
    if ((await Body?.transformToString()) !== content) throw new Error('The object came back with another content')
    return rto
  }

  /**
   * Deletes the stacks and what a restore has left. Without `retainData`, their data goes with them. It needs no bundles and no
   * templates, so it also removes what another run created.
   * @returns what is left
   */
  async destroy(): Promise<string> {
    await this.#emptyBuckets()
    await this.#dropRestored()
    const stacks = await this.#stacks()
    for (const kind of KINDS) {
      for (const { client, stack } of stacks.filter(({ stack }) => stack.StackName === this.#prefix + kind)) {
        await client.send(new DeleteStackCommand({ StackName: stack.StackName }))
        await waitUntilStackDeleteComplete({ client, maxWaitTime: HOUR_S }, { StackName: stack.StackId })
      }
    }
    if (await this.exists()) throw new Error(`Stacks are left: ${(await this.states()).join(', ')}`)
    const { edge } = readStage(this.#options.context)
    return `no stack is left${edge ? '; delete the edge’s function tomorrow (docs/deploy.md#remove-the-edge)' : ''}`
  }

  /** Deletes the table of a restore that was interrupted. */
  async #dropRestored(): Promise<void> {
    const found = await stackOutputs(this.#stack, ['TableName']).catch(() => undefined)
    if (found === undefined) return
    await this.#dynamodb.send(new DeleteTableCommand({ TableName: restoredName(found.TableName) })).catch((error) => {
      if (error.name !== 'ResourceNotFoundException') throw error
    })
  }

  /** Synthesizes without building, so that the bundles on disk are what is deployed. @returns the assembly's folder */
  async #synth(changes: Context): Promise<string> {
    const out = join(this.#options.folder, 'cdk.out')
    rmSync(out, { recursive: true, force: true })
    mkdirSync(out, { recursive: true })
    const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'))
    const CDK_CONTEXT_JSON = JSON.stringify({ ...context, ...this.#options.context, ...changes })
    await run(process.execPath, ['infra/app.ts'], { ...this.#options.env, CDK_CONTEXT_JSON, CDK_OUTDIR: out })
    return out
  }

  async #stacks(): Promise<{ client: CloudFormationClient; stack: Stack }[]> {
    const found: { client: CloudFormationClient; stack: Stack }[] = []
    for (const client of [this.#cloudformation, ...(this.#edge ? [this.#edge] : [])])
      for await (const { Stacks = [] } of paginateDescribeStacks({ client }, {}))
        for (const stack of Stacks)
          if (stack.StackName?.startsWith(this.#prefix) && stack.StackStatus !== 'DELETE_COMPLETE')
            found.push({ client, stack })
    return found
  }

  async #resources({ client, stack: { StackName } }: { client: CloudFormationClient; stack: Stack }) {
    const all: StackResourceSummary[] = []
    let NextToken: string | undefined
    do {
      const page = await client.send(new ListStackResourcesCommand({ StackName, ...(NextToken && { NextToken }) }))
      all.push(...(page.StackResourceSummaries ?? []))
      NextToken = page.NextToken
    } while (NextToken)
    return all
  }

  /** Deletes all versions of all objects, because CloudFormation doesn't delete a bucket that contains any. */
  async #emptyBuckets(): Promise<void> {
    if (readStage(this.#options.context).retainData) return
    const resources = await Promise.all((await this.#stacks()).map((one) => this.#resources(one)))
    const buckets = resources.flat().filter(({ ResourceType }) => ResourceType === 'AWS::S3::Bucket')
    for (const { PhysicalResourceId: bucket = '' } of buckets) await deleteVersions(this.#s3, bucket)
  }

  async #find(TableName: string, text: string): Promise<{ holds: boolean; records: number }> {
    let records = 0
    let holds = false
    let ExclusiveStartKey: ConstructorParameters<typeof ScanCommand>[0]['ExclusiveStartKey']
    do {
      const page = await this.#dynamodb.send(new ScanCommand({ TableName, ExclusiveStartKey }))
      records += page.Items?.length ?? 0
      holds ||= JSON.stringify(page.Items).includes(text)
      ExclusiveStartKey = page.LastEvaluatedKey
    } while (ExclusiveStartKey)
    return { holds, records }
  }

  /** Waits for a condition, at most an hour. */
  async #until(holds: () => Promise<boolean>): Promise<void> {
    const until = Date.now() + 3_600_000
    while (!(await holds())) {
      if (Date.now() > until) throw new Error('Not restored after an hour')
      await pause(5_000)
    }
  }
}
