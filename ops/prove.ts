import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { parseContext } from './context.ts'
import { connectAccount } from './preflight/account.ts'
import { preflight } from './preflight/run.ts'
import { runClientJourney } from './prove/client-journey.ts'
import { prove, reportOf } from './prove/proof.ts'
import { ProvedStage } from './prove/stage.ts'
import { proofSteps } from './prove/steps.ts'

const HELP = `npm run prove -- --stage <name> [-c name=value …] [--yes] [--keep] [--report <file>]

Proves on your own AWS account that a stage with production settings works: deploys it, does what a client does over its address,
deploys again with canaries, has a broken version rolled back, rotates a key, restores the table to a point in time, and destroys
everything. Takes about two hours and a few dollars.

  --stage   name of a stage that doesn't exist yet (sandbox)
  -c        a setting, as for npm run deploy
  --yes     don't ask before it begins
  --keep    leave the stage in place
  --report  file for the report, in Markdown (proof-<stage>.md)
  --help    show this help

Exits with 1 if a step failed. What the stage created is removed even then, unless you give --keep.`

/** Settings of a proof: a stage's data has to go with it, and nobody reads the e-mail of the journey. */
const SETTINGS = { retainData: false, developerProof: false }

const { values } = readCommandLine(HELP, {
  options: {
    stage: { type: 'string', default: 'sandbox' },
    context: { type: 'string', short: 'c', multiple: true },
    yes: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
})

/** Asks for the stage's name, because everything of that name is deleted in the end. */
const confirm = async (stage: string, account: string): Promise<void> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(
    `The stage ${stage} is created in account ${account} and deleted with all of its data. Type its name to begin: `,
  )
  terminal.close()
  if (answer.trim() !== stage) throw new OperatorError('Nothing was done.')
}

runCommand(async () => {
  const settings = { ...SETTINGS, ...parseContext(values.context), stage: values.stage }
  const folder = await mkdtemp(join(tmpdir(), 'prove-'))
  const stage = new ProvedStage({ context: settings, env: process.env, folder })
  const region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1'
  const account = await connectAccount(region)
  if (await stage.exists())
    throw new OperatorError(
      `The stage ${stage.name} exists. A proof deletes its stage, so choose a name that nothing uses: --stage proof`,
    )
  if (!values.yes) await confirm(stage.name, account.id)
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
  const file = values.report ?? `proof-${stage.name}.md`
  const { stage: _, ...shown } = settings as Record<string, unknown>
  writeFileSync(file, reportOf(proven, { stage: stage.name, account: account.id, region, began, settings: shown }))
  console.log(`\nThe report is in ${file}`)
  if (proven.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
})
