import { type ChainMark, ChainMarkEntity, type Run, STILL_ACTIVE } from '../../entities/runs.ts'
import type { Task } from '../../entities/tasks.ts'
import { MINUTE, SECOND } from '../../kernel/clock.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

/** Specification "Limits": a chain of agents has 120 seconds. */
export const CHAIN_TIME = 120 * SECOND

/** Where something stands in a chain of agents; what it causes stands there, too, or one deeper. */
export interface ChainPosition {
  chain_id: string
  chain_depth: number
  /** Epoch ms by which the whole chain has to be done. */
  chain_deadline: number
  audience: 'member' | 'external'
  /** The person at the start of the chain. */
  actor?: { id: string; name: string } | undefined
  parent_run_id?: string | undefined
  /** The person in whose chat it began: what is asked on the way is theirs alone, too. */
  private_to?: string | undefined
}

const positionOf = (run: Run): ChainPosition => ({
  chain_id: run.chain_id,
  chain_depth: run.chain_depth,
  chain_deadline: run.chain_deadline,
  audience: run.audience,
  actor: run.actor,
  parent_run_id: run.id,
  private_to: run.private_to,
})

/** Marks read at once; each is some 250 bytes. */
const MARKS_PAGE = 200

/** The marks of an installation's active runs and of those that ended within a chain's time. */
const marksOf = async ({ table, clock }: Pick<Deps, 'table' | 'clock'>, installationId: string) => {
  const marks: ChainMark[] = []
  const from = ChainMarkEntity.key({
    installation_id: installationId,
    ended_at: clock.now() - CHAIN_TIME,
    run_id: '0',
  }).sk
  let after: string | undefined
  do {
    const options = { limit: MARKS_PAGE, from, after }
    const page = await table.query(ChainMarkEntity, { installation_id: installationId }, options)
    marks.push(...page.items)
    after = page.next
  } while (after !== undefined)
  return marks
}

/** The runs of an installation that have not ended, read consistently; the limit of active runs bounds them. */
export const activeRunsOf = async ({ table }: Pick<Deps, 'table'>, installationId: string): Promise<string[]> => {
  const from = ChainMarkEntity.key({ installation_id: installationId, ended_at: STILL_ACTIVE, run_id: '0' }).sk
  const page = await table.query(ChainMarkEntity, { installation_id: installationId }, { limit: MARKS_PAGE, from })
  return page.items.map(({ run_id }) => run_id)
}

const deepest = (marks: readonly ChainMark[]): ChainMark | undefined =>
  marks.reduce<ChainMark | undefined>(
    (worst, mark) => (worst && worst.chain_depth >= mark.chain_depth ? worst : mark),
    undefined,
  )

const earliest = (marks: readonly ChainMark[]): number => Math.min(...marks.map(({ chain_deadline }) => chain_deadline))

/** `external` wins wherever the audience is in doubt; a run that has ended casts none, a task that is worked on does. */
const audienceOf = (marks: readonly ChainMark[]): 'member' | 'external' =>
  marks.some(
    ({ audience, ended_at, of_task }) => audience === 'external' && (ended_at === STILL_ACTIVE || of_task === true),
  )
    ? 'external'
    : 'member'

/**
 * Whose chat a call may be about that names no run: that of the newest run under way in one. What is asked there is theirs
 * alone, so the call is, too, where in doubt.
 */
const privateTo = (marks: readonly ChainMark[]): string | undefined =>
  marks.findLast(({ private_to, ended_at }) => private_to !== undefined && ended_at === STILL_ACTIVE)?.private_to

/**
 * Where a call of an installation stands, so that no way of calling begins a chain anew (decisions §5):
 * - with a run's own callback token: where that run stands;
 * - with another token that names a run: there, but no shallower than any run that is active or just ended, and for
 *   `external` as soon as one of the active ones is: which of its runs a backend acts for cannot be known;
 * - without a run: the greatest depth and the earliest deadline of those runs. With none of them, it begins a chain.
 * @param run the run the call belongs to
 * @param bound the token is that run's own
 */
export const positionOfCall = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  installationId: string,
  run: Run | undefined,
  bound: boolean,
): Promise<Omit<ChainPosition, 'chain_id'> & { chain_id: string | undefined }> => {
  if (run && bound) return positionOf(run)
  const marks = await marksOf(deps, installationId)
  const worst = deepest(marks)
  if (run) {
    return {
      ...positionOf(run),
      chain_depth: Math.max(run.chain_depth, worst?.chain_depth ?? 0),
      audience: run.audience === 'external' ? 'external' : audienceOf(marks),
    }
  }
  return {
    chain_id: worst?.chain_id,
    chain_depth: worst?.chain_depth ?? 0,
    chain_deadline: worst ? earliest(marks) : deps.clock.now() + CHAIN_TIME,
    audience: audienceOf(marks),
    actor: worst?.actor,
    private_to: privateTo(marks),
  }
}

/**
 * Where a run stands that an installation starts by API: in the chain it is in, if it is in one; else, undefined, at the
 * start of its own (decisions §5: "a plain API run starts at depth 0").
 */
export const positionOfNewRun = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  installationId: string,
  run: Run | undefined,
): Promise<Partial<ChainPosition>> => {
  if (run) return positionOf(run)
  const marks = await marksOf(deps, installationId)
  const inside = marks.filter(({ chain_depth }) => chain_depth > 0)
  const worst = deepest(inside)
  if (!worst) return { audience: audienceOf(marks) }
  return {
    chain_id: worst.chain_id,
    chain_depth: worst.chain_depth,
    chain_deadline: earliest(inside),
    audience: audienceOf(marks),
    actor: worst.actor,
    private_to: privateTo(inside),
  }
}

const markOf = (run: Run, ended_at: number): ChainMark => ({
  installation_id: run.installation_id,
  run_id: run.id,
  chain_id: run.chain_id,
  chain_depth: run.chain_depth,
  chain_deadline: run.chain_deadline,
  audience: run.audience,
  actor: run.actor,
  private_to: run.private_to,
  ended_at,
})

/** Part of every transaction that starts a run. */
export const markActive = (run: Run): Write => ChainMarkEntity.create(markOf(run, STILL_ACTIVE))

/** Part of every transaction that ends a run: it counts for as long as its chain could. */
export const markEnded = (run: Run, now: number): Write[] => [
  ChainMarkEntity.delete({ installation_id: run.installation_id, ended_at: STILL_ACTIVE, run_id: run.id }),
  ChainMarkEntity.create({ ...markOf(run, now), expires_at: now + CHAIN_TIME + MINUTE }),
]

/**
 * Part of whatever brings an agent to act on a task of a chain outside of the task's own run: it is given to it, somebody
 * speaks about it, it works on it, its result returns. For as long as a chain could go on, what the agent calls without
 * naming a run stands no shallower than the task, and is external if that is. Otherwise two agents that pass tasks and
 * results to and fro would begin at depth 0 each time.
 * @param installation_id the agent; without one, the one whose task it is
 */
export const markTask = (
  { id, assignee, chain_depth, audience, actor }: Task,
  now: number,
  installation_id = assignee?.installation_id,
): Write[] =>
  installation_id !== undefined && (chain_depth > 0 || audience === 'external')
    ? [
        ChainMarkEntity.replace({
          installation_id,
          run_id: id,
          chain_id: id,
          chain_depth,
          chain_deadline: now + CHAIN_TIME,
          audience,
          actor,
          of_task: true,
          ended_at: now,
          expires_at: now + CHAIN_TIME + MINUTE,
        }),
      ]
    : []
