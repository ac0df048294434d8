import type { Deps } from '#shared/foundation/work/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { allItems } from '#shared/table/pages.ts'
import { type ChainMark, ChainMarkEntity, type Run, RunEntity, STILL_ACTIVE } from './entity.ts'
import { loadRunsInSlots } from './slots.ts'
import { isActive } from './status.ts'

/** Time limit of a chain of agents: 120 seconds from its first hop (contract/agent-to-agent.md#chains). */
export const CHAIN_TIME = 120 * SECOND

/** Position of a run or call in a chain of agents. Its own calls have the same position or are one deeper. */
export interface ChainPosition {
  chain_id: string
  chain_depth: number
  /** Time by which the whole chain must finish, in epoch ms. */
  chain_deadline: number
  /** Time of the chain's first question to another agent, if its root run asked it. */
  first_hop_at?: number | undefined
  /** Creation of the first run of the chain, in epoch ms. Absent before there is one. */
  chain_started_at?: number | undefined
  /** Schedules whose events' runs led to it. */
  chain_schedules?: string[] | undefined
  audience: 'member' | 'external'
  /** Person at the start of the chain. */
  actor?: { id: string; name: string } | undefined
  parent_run_id?: string | undefined
  /** Person in whose chat the chain started. All of its runs are visible only to them. */
  private_to?: string | undefined
}

/**
 * Returns a run's position in its chain.
 * @param hop start of the time limit for a root run that has asked no agent yet
 */
export const positionOf = (run: Run, hop: number): ChainPosition => ({
  chain_id: run.chain_id,
  chain_depth: run.chain_depth,
  chain_deadline: run.chain_depth > 0 ? run.chain_deadline : (run.first_hop_at ?? hop) + CHAIN_TIME,
  first_hop_at: run.first_hop_at,
  chain_started_at: run.chain_started_at ?? run.created_at,
  chain_schedules: run.chain_schedules,
  audience: run.audience,
  actor: run.actor,
  parent_run_id: run.id,
  private_to: run.private_to,
})

/**
 * Refuses to start a run in a chain that is over: 24 hours after its first run, however many runs continued it. Without
 * this end, runs could start each other for ever (contract/agent-to-agent.md#chains).
 * @throws `chain_budget_exceeded`
 */
export const refuseEndedChain = (
  { clock }: Pick<Deps, 'clock'>,
  { chain_started_at }: Pick<ChainPosition, 'chain_started_at'>,
): void => {
  if (chain_started_at === undefined || clock.now() < chain_started_at + LIMITS.chainLife) return
  throw fail('chain_budget_exceeded', {
    message: 'The chain has ended: its first run was created more than 24 hours ago.',
    fix: 'Start a new run with an access token, or ask a person to start one.',
  })
}

/** Marks read at once, about 250 bytes each. */
const MARKS_PAGE = 200

/**
 * Lists the marks of an installation's active runs, and of runs that ended within the time limit of a chain, newest first.
 * Of the runs that the counter names, one ended run stands for all: the last.
 */
const listMarks = async (deps: Pick<Deps, 'table' | 'clock'>, installationId: string): Promise<ChainMark[]> => {
  const since = deps.clock.now() - CHAIN_TIME
  const from = ChainMarkEntity.key({ installation_id: installationId, ended_at: since, run_id: '0' }).sk
  const [marks, { active, last }] = await Promise.all([
    allItems((after) =>
      deps.table.query(ChainMarkEntity, { installation_id: installationId }, { limit: MARKS_PAGE, from, after }),
    ),
    loadRunsInSlots(deps, installationId),
  ])
  const named = active.map((id) => markOfNamed(installationId, id, STILL_ACTIVE))
  const ended = last && last.ended_at >= since ? [markOfNamed(installationId, last.id, last.ended_at)] : []
  const place = (mark: ChainMark): string => ChainMarkEntity.key(mark).sk
  return [...marks, ...named, ...ended].sort((a, b) => (place(a) < place(b) ? 1 : -1))
}

/** Returns the mark that a run would have which the counter names. */
const markOfNamed = (installation_id: string, run_id: string, ended_at: number): ChainMark => ({
  installation_id,
  run_id,
  chain_id: run_id,
  chain_depth: 0,
  // Only chains that another agent's call led to have one.
  chain_deadline: Number.POSITIVE_INFINITY,
  audience: 'member',
  ended_at,
})

/** Lists the ids of an installation's active runs, read consistently. The limit of active runs bounds them. */
export const listActiveRuns = async ({ table }: Pick<Deps, 'table'>, installationId: string): Promise<string[]> => {
  const from = ChainMarkEntity.key({ installation_id: installationId, ended_at: STILL_ACTIVE, run_id: '0' }).sk
  const [page, { active }] = await Promise.all([
    table.query(ChainMarkEntity, { installation_id: installationId }, { limit: MARKS_PAGE, from }),
    loadRunsInSlots({ table }, installationId),
  ])
  // The counter may name a run before it is created, and for a moment after it has ended.
  const runs = await table.getAll(active.map((id) => RunEntity.ref({ installation_id: installationId, id })))
  return [...page.items.map(({ run_id }) => run_id), ...active.filter((_, i) => runs[i] && isActive(runs[i].status))]
}

const deepest = (marks: readonly ChainMark[]): ChainMark | undefined =>
  marks.reduce<ChainMark | undefined>(
    (worst, mark) => (worst && worst.chain_depth >= mark.chain_depth ? worst : mark),
    undefined,
  )

const earliest = (marks: readonly ChainMark[]): number => Math.min(...marks.map(({ chain_deadline }) => chain_deadline))

/** Returns when the oldest chain began of those that another agent's call led to. Others are single runs of their own. */
const startOf = (marks: readonly ChainMark[]): number | undefined => {
  const starts = marks.flatMap(({ chain_depth, chain_started_at }) => (chain_depth > 0 ? (chain_started_at ?? []) : []))
  return starts.length === 0 ? undefined : Math.min(...starts)
}

/** Returns the schedules of the chains that another agent's call or an event led to. */
const schedulesIn = (marks: readonly ChainMark[]): string[] | undefined => {
  const schedules = new Set(
    marks.flatMap(({ chain_depth, chain_schedules = [] }) => (chain_depth > 0 ? chain_schedules : [])),
  )
  return schedules.size === 0 ? undefined : [...schedules]
}

/** Returns `external` if an active run or a task that is worked on has that audience. Ended runs don't count. */
const audienceOf = (marks: readonly ChainMark[]): 'member' | 'external' =>
  marks.some(
    ({ audience, ended_at, of_task }) => audience === 'external' && (ended_at === STILL_ACTIVE || of_task === true),
  )
    ? 'external'
    : 'member'

/**
 * Returns the person whose private conversation a call without a run may concern: that of an active run, or of a task that is
 * worked on. If in doubt, the call is private to them, because the conversation is.
 * @throws `validation_error` if it may concern several people's, because one of them would see what the others wrote
 */
const privateTo = (marks: readonly ChainMark[]): string | undefined => {
  const people = new Set(
    marks.flatMap(({ private_to, ended_at, of_task }) =>
      ended_at === STILL_ACTIVE || of_task ? (private_to ?? []) : [],
    ),
  )
  if (people.size < 2) return [...people][0]
  throw fail('validation_error', {
    message: 'Private conversations of several people are active, and the call doesn’t say which one it belongs to.',
    fix: 'Use the callback token of the run, or send its run_id.',
    details: { fields: { run_id: ['is required while you work for several people'] } },
  })
}

/**
 * Returns the position of an installation's call, so that no kind of call can restart a chain
 * (contract/agent-to-agent.md#chains):
 * - with a run's own callback token: the run's position;
 * - with another token and a run: the run's position, but as deep as the deepest run that is active or just ended, and
 *   `external` if any active run is. It is unknown which of its runs a backend acts for;
 * - without a run: the greatest depth of those runs, and the earliest deadline of those that an agent caused. Without any,
 *   the call starts a chain.
 * @param run the run that the call belongs to
 * @param bound true if the token is that run's own
 * @returns the position; its `first_hop_at` is this call if a root run has asked no agent yet
 */
export const loadCallPosition = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  installationId: string,
  run: Run | undefined,
  bound: boolean,
): Promise<Omit<ChainPosition, 'chain_id'> & { chain_id: string | undefined }> => {
  const now = deps.clock.now()
  const own = run && { ...positionOf(run, now), first_hop_at: run.first_hop_at ?? now }
  if (own && bound) return own
  const marks = await listMarks(deps, installationId)
  const worst = deepest(marks)
  const deadlines = marks.filter(({ chain_depth }) => chain_depth > 0)
  const started = deadlines.length > 0 ? earliest(deadlines) : undefined
  if (own) {
    return {
      ...own,
      ...(run.chain_depth === 0 && started !== undefined && { chain_deadline: started }),
      chain_depth: Math.max(run.chain_depth, worst?.chain_depth ?? 0),
      audience: run.audience === 'external' ? 'external' : audienceOf(marks),
    }
  }
  return {
    chain_id: worst?.chain_id,
    chain_depth: worst?.chain_depth ?? 0,
    chain_deadline: started ?? now + CHAIN_TIME,
    chain_started_at: startOf(marks),
    chain_schedules: schedulesIn(marks),
    audience: audienceOf(marks),
    actor: worst?.actor,
    private_to: privateTo(marks),
  }
}

/**
 * Returns the position of a run that an installation starts by API: in its current chain, if it has one. Otherwise the
 * run starts a new chain (contract/agent-to-agent.md#chains).
 */
export const loadNewRunPosition = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  installationId: string,
  run: Run | undefined,
): Promise<Partial<ChainPosition>> => {
  if (run) return positionOf(run, deps.clock.now())
  const marks = await listMarks(deps, installationId)
  const inside = marks.filter(({ chain_depth }) => chain_depth > 0)
  const worst = deepest(inside)
  if (!worst) return { audience: audienceOf(marks) }
  return {
    chain_id: worst.chain_id,
    chain_depth: worst.chain_depth,
    chain_deadline: earliest(inside),
    chain_started_at: startOf(inside),
    chain_schedules: schedulesIn(inside),
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
  chain_started_at: run.chain_started_at,
  chain_schedules: run.chain_schedules,
  audience: run.audience,
  actor: run.actor,
  private_to: run.private_to,
  ended_at,
})

/** Write for every transaction that starts a run. */
export const markActive = (run: Run): Write => ChainMarkEntity.create(markOf(run, STILL_ACTIVE))

/** Writes for every transaction that ends a run. The ended run counts for the time limit of its chain. */
export const markEnded = (run: Run, now: number): Write[] => [
  ChainMarkEntity.delete({ installation_id: run.installation_id, ended_at: STILL_ACTIVE, run_id: run.id }),
  ChainMarkEntity.create({ ...markOf(run, now), expires_at: now + CHAIN_TIME + MINUTE }),
]

/** Fields of a task that determine the position of its agent's calls outside of a run. */
type MarkedTask = Pick<
  ChainMark,
  'chain_depth' | 'chain_started_at' | 'chain_schedules' | 'audience' | 'actor' | 'private_to'
> & {
  id: string
  assignee?: { installation_id: string } | undefined
}

/**
 * Writes for everything that lets an agent act on a task of a chain outside of the task's own run: assignment, a message,
 * progress, or a result. For the time limit of a chain, the agent's calls without a run are at least as deep as the task,
 * external if it is, and private if it is. Otherwise two agents that pass tasks and results back and forth would start at depth 0 each time.
 * @param installation_id the agent; default: the task's assignee
 */
export const markTask = (
  { id, assignee, chain_depth, chain_started_at, chain_schedules, audience, actor, private_to }: MarkedTask,
  now: number,
  installation_id = assignee?.installation_id,
): Write[] =>
  installation_id !== undefined && (chain_depth > 0 || audience === 'external' || private_to !== undefined)
    ? [
        ChainMarkEntity.replace({
          installation_id,
          run_id: id,
          chain_id: id,
          chain_depth,
          chain_deadline: now + CHAIN_TIME,
          chain_started_at,
          chain_schedules,
          audience,
          actor,
          private_to,
          of_task: true,
          ended_at: now,
          expires_at: now + CHAIN_TIME + MINUTE,
        }),
      ]
    : []
