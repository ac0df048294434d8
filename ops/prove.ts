import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { parseContext } from './context.ts'
import { connectAccount } from './preflight/account.ts'
import { preflight } from './preflight/run.ts'
import { runClientJourney } from './prove/client-journey.ts'
import { proofCosts } from './prove/costs.ts'
import { prove, reportOf } from './prove/proof.ts'
import { PROOF_TAG, ProvedStage } from './prove/stage.ts'
import { proofSteps } from './prove/steps.ts'
import { settleRegion } from './region.ts'
import { readStage } from './stage.ts'

const HELP = `npm run prove [-- --stage <name>] [-c name=value …] [--yes] [--keep] [--report <file>] [--destroy]

Proves on your own AWS account that a stage with production settings works: deploys it, does what a client does over its address,
deploys again with canaries, has a broken version rolled back, rotates a key, restores the table to a point in time, and destroys
everything. Before it begins, it says what it creates and what that costs, and asks. It takes about two hours.

  --stage    name of a stage that doesn't exist yet (sandbox)
  -c         a setting, as for npm run deploy
  --yes      don't ask before it begins
  --keep     leave the stage in place
  --report   file for the report, in Markdown (docs/proof/<date>.md if everything passed, else proof-<stage>.md)
  --destroy  remove what an interrupted proof has left, and do nothing else
  --help     show this help

Exits with 1 if a step failed. What the stage created is removed even then, unless you give --keep.`

/** Settings of a proof: a stage's data has to go with it, and no one reads the e-mail of the journey. */
const SETTINGS = { retainData: false, developerProof: false }

const { values } = readCommandLine(HELP, {
  options: {
    stage: { type: 'string', default: 'sandbox' },
    context: { type: 'string', short: 'c', multiple: true },
    yes: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    report: { type: 'string' },
    destroy: { type: 'boolean', default: false },
  },
})

const again = `npm run prove -- --stage ${values.stage} --destroy`

/** Asks for the stage's name, because everything of that name is deleted in the end. */
const confirm = async (stage: string): Promise<void> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`Type the name of the stage to begin (${stage}): `)
  terminal.close()
  if (answer.trim() !== stage) throw new OperatorError('Nothing was done.')
}

runCommand(async () => {
  const region = await settleRegion()
  const given = { ...SETTINGS, ...parseContext(values.context), stage: values.stage }
  const settings = { ...given, tags: JSON.stringify({ ...readStage(given).tags, [PROOF_TAG]: 'true' }) }
  const folder = await mkdtemp(join(tmpdir(), 'prove-'))
  const stage = new ProvedStage({ context: settings, env: process.env, folder })
  const account = await connectAccount(region)
  const left = await stage.leftByProof()
  if (values.destroy) {
    if (left === undefined)
      throw new OperatorError(`There is no stage ${stage.name} in account ${account.id}, ${region}.`)
    if (!left) throw new OperatorError(`The stage ${stage.name} wasn't created by a proof, so it isn't deleted.`)
    console.log(await stage.destroy())
    return
  }
  if (left) throw new OperatorError(`An earlier proof has left the stage ${stage.name}. Remove it first: ${again}`)
  if (left === false)
    throw new OperatorError(
      `The stage ${stage.name} exists. A proof deletes its stage, so choose a name that nothing uses: --stage proof`,
    )
  const { proof, day } = await proofCosts()
  console.log(`A proof in account ${account.id}, ${region}:
  creates the stacks ${stage.stackNames.join(', ')}, and a second table for the restore
  costs about $${proof.toFixed(2)} and takes about two hours
  deletes all of it, with its data, at the end or after a failure
If it is interrupted, the stage stays and costs $${day.toFixed(2)} a day until you run: ${again}
These stay: the CDK's bootstrap with the bundles, the account's role for API logs and, with the edge, a function that CloudFront
still has copies of (docs/deploy.md#remove-the-edge).`)
  if (!values.yes) await confirm(stage.name)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.error(`\nInterrupted. Remove what was created: ${again}`)
      process.exit(130)
    })
  const began = new Date()
  await stage.build()
  const steps = proofSteps({
    stage,
    preflight: async () => {
      if (!(await preflight(settings))) throw new Error('Something stands in the way: see above.')
      return 'nothing stands in the way'
    },
    journey: runClientJourney,
    canaries: true,
    waitForKeys: true,
    keep: values.keep,
  })
  const proven = await prove(steps, {
    now: () => performance.now(),
    onStep: ({ step, outcome, seconds, seen }) =>
      console.log(`${outcome.padEnd(9)} ${step} (${seconds.toFixed(0)} s)\n          ${seen}`),
  })
  const failed = proven.some(({ outcome }) => outcome === 'failed')
  const passedFile = fileURLToPath(new URL(`../docs/proof/${began.toISOString().slice(0, 10)}.md`, import.meta.url))
  const file = values.report ?? (failed ? `proof-${stage.name}.md` : passedFile)
  const { stage: _, tags: __, ...shown } = settings as Record<string, unknown>
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, reportOf(proven, { stage: stage.name, account: account.id, region, began, settings: shown }))
  console.log(
    `\nThe report is in ${file}${failed ? '' : '. Commit it: it shows that this version runs on a real account.'}`,
  )
  if (failed) process.exitCode = 1
})
