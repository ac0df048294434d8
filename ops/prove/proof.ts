/** Outcome of a step. */
export type Outcome = 'done' | 'failed' | 'not tried'

/** One step of a proof, with what was seen. */
export interface Proven {
  step: string
  outcome: Outcome
  seconds: number
  /** Observation, error, or reason why the step wasn't tried. */
  seen: string
}

/** A step: it returns what it saw, and throws if that is wrong. */
export interface Step {
  name: string
  run: () => Promise<string>
  /** Runs even after a failed step, because it removes what earlier steps created. */
  always?: boolean
  /** Why the step can't be tried here. */
  unavailable?: string | undefined
}

export interface ProofOptions {
  /** Milliseconds on a clock that only goes forward. */
  now: () => number
  /** Called after each step. */
  onStep: (proven: Proven) => void
}

/** Runs steps in order. After a failed one, only those run that remove what was created. */
export const prove = async (steps: readonly Step[], { now, onStep }: ProofOptions): Promise<Proven[]> => {
  const all: Proven[] = []
  for (const { name: step, run, always = false, unavailable } of steps) {
    const failed = all.find(({ outcome }) => outcome === 'failed')
    const reason = unavailable ?? (failed && !always ? `“${failed.step}” failed.` : undefined)
    const began = now()
    const proven: Proven = await (reason === undefined
      ? run().then(
          (seen) => ({ step, outcome: 'done' as const, seconds: (now() - began) / 1_000, seen }),
          (error: unknown) => ({
            step,
            outcome: 'failed' as const,
            seconds: (now() - began) / 1_000,
            seen: messageOf(error),
          }),
        )
      : { step, outcome: 'not tried' as const, seconds: 0, seen: reason })
    all.push(proven)
    onStep(proven)
  }
  return all
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Writes the report of a proof as Markdown. */
export const reportOf = (
  proven: readonly Proven[],
  about: { stage: string; account: string; region: string; began: Date; settings: Record<string, unknown> },
): string => {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, '<br>')
  const rows = proven.map(
    ({ step, outcome, seconds, seen }) => `| ${step} | ${outcome} | ${seconds.toFixed(0)} | ${cell(seen)} |`,
  )
  const settings = Object.entries(about.settings).map(([name, value]) => `\`${name}=${value}\``)
  const day = (days: number) => new Date(about.began.getTime() + days * 86_400_000).toISOString().slice(0, 10)
  return `# Proof of the stage ${about.stage}

Begun at ${about.began.toISOString()} in the account that ends with ${about.account.slice(-4)}, in ${about.region}.
Settings that differ from the defaults: ${settings.join(', ') || 'none'}.

| step | outcome | seconds | seen |
| --- | --- | ---: | --- |
${rows.join('\n')}

AWS shows the costs a day later, by the tag \`stage\` once it is [activated](https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/activating-tags.html):

    aws ce get-cost-and-usage --time-period Start=${day(0)},End=${day(1)} --granularity DAILY \\
      --metrics UnblendedCost --filter '{"Tags":{"Key":"stage","Values":["${about.stage}"]}}'
`
}
