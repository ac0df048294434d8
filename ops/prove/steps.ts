import { setTimeout as pause } from 'node:timers/promises'
import { LOOK_AGAIN } from '#shared/adapters/public-keys.ts'
import type { ClientJourney } from './client-journey.ts'
import { probeDuring, requireAll } from './probe.ts'
import type { Step } from './proof.ts'
import type { ProvedStage } from './stage.ts'

export interface ProofPlan {
  stage: ProvedStage
  /** Checks the account. Returns what it found, and throws if something stands in the way. Absent for emulators, which have no quotas. */
  preflight: (() => Promise<string>) | undefined
  /** Does what a client does over the stage's address. */
  journey: (baseUrl: string) => Promise<ClientJourney>
  /** Deploys the second version gradually, and takes a broken one back. False for emulators without CodeDeploy. */
  canaries: boolean
  /** Waits until functions have read a new key before it is used. */
  waitForKeys: boolean
  /** Milliseconds in which a request has to be answered during a deployment. Default: as long as a client waits. */
  answersWithin?: number
  /** Leaves the stage in place at the end. */
  keep: boolean
}

/** Setting whose change publishes a new version of every function. */
const CHANGE = { logLevel: 'debug' }
/** Unit whose broken version is rolled back. It serves the address that is probed. */
const BROKEN_UNIT = 'pages'
/** Ring whose key every access token depends on. */
const RING = 'access'
const PROBED = '/openapi.json'

/** The steps that prove a stage, in their order. */
export const proofSteps = (plan: ProofPlan): Step[] => {
  const { stage } = plan
  let first: ClientJourney | undefined
  const travel = async (): Promise<ClientJourney> => plan.journey(await stage.baseUrl())
  const during = async <T>(work: () => Promise<T>) =>
    probeDuring(`${await stage.baseUrl()}${PROBED}`, work, plan.answersWithin)
  const withoutCanaries = plan.canaries ? undefined : 'No CodeDeploy here.'
  return [
    {
      name: 'The account is ready',
      unavailable: plan.preflight ? undefined : 'No quotas and no roles of services here.',
      run: async () => (await plan.preflight?.()) ?? '',
    },
    { name: 'It deploys', run: () => stage.deploy() },
    {
      name: 'The journey works over its address',
      run: async () => {
        first = await travel()
        return first.seen
      },
    },
    {
      name: plan.canaries ? 'A new version gets its traffic step by step' : 'A new version is deployed',
      run: async () => {
        const { result, probed } = await during(() => stage.deploy(CHANGE))
        await first?.requireAccess()
        return `${result}; ${requireAll(probed)}; the token from before works`
      },
    },
    {
      name: 'A broken version is rolled back',
      unavailable: withoutCanaries,
      run: async () => {
        const { result: refusal, probed } = await during(() =>
          stage.withBrokenBundle(BROKEN_UNIT, () =>
            stage.deploy(CHANGE).then(
              () => undefined,
              (error: Error) => error,
            ),
          ),
        )
        if (refusal === undefined) throw new Error('The broken version was deployed')
        const states = await stage.states()
        if (!states.includes('UPDATE_ROLLBACK_COMPLETE')) throw new Error(`${states.join(', ')}\n${refusal.message}`)
        await first?.requireAccess()
        return `UPDATE_ROLLBACK_COMPLETE; ${requireAll(probed)}; the token from before works`
      },
    },
    {
      name: 'A key is rotated without signing anybody out',
      run: async () => {
        const { probed } = await during(async () => {
          await stage.rotate(RING, !plan.waitForKeys)
          // Functions that know a ring look for an unknown key this often.
          if (!plan.waitForKeys) await pause(LOOK_AGAIN)
        })
        await first?.requireAccess()
        const again = await travel()
        return `${requireAll(probed)}; the token from before works; ${again.seen}`
      },
    },
    {
      name: 'The table is restored to a point in time',
      run: async () => {
        const { rto, rpo, records } = await stage.restoreTable(first?.appId ?? '')
        return `${records} records, among them the app of the journey; RTO ${rto.toFixed(0)} s, RPO ${rpo.toFixed(0)} s`
      },
    },
    {
      name: 'A deleted object comes back',
      run: async () => `RTO ${(await stage.restoreObject()).toFixed(1)} s`,
    },
    {
      name: 'It is destroyed',
      always: true,
      unavailable: plan.keep ? 'Kept, as asked.' : undefined,
      run: async () => {
        if (!(await stage.exists())) return 'nothing was created'
        return stage.destroy()
      },
    },
  ]
}
