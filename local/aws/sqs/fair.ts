import type { Message } from './store.ts'

/** The ready messages of a queue, by message group. */
export interface FairGroups {
  ready(message: Message): void
  /** Removes and returns the next message: the oldest of the group with the fewest in flight. */
  next(): Message | undefined
  /** Marks the message as in flight. */
  hold(message: Message): void
  /** Marks the message as no longer in flight. */
  release(message: Message): void
  /** Removes a deleted message. */
  forget(message: Message): void
  size(): number
}

interface Group {
  ready: Set<Message>
  inFlight: Set<string>
  /** Time at which the group was last served. Among equal groups, the one that waited longest comes first. */
  servedAt: number
}

/**
 * Creates fair queues (`MessageGroupId` on a standard queue): a group with a backlog or many messages in flight waits
 * behind the others. SQS promises no exact order. This takes the group with the fewest in flight, then the one served
 * longest ago.
 */
export const createFairGroups = (): FairGroups => {
  const groups = new Map<string, Group>()
  let turn = 0

  const groupOf = (message: Message): Group => {
    const key = message.groupId ?? ''
    const known = groups.get(key)
    if (known) return known
    const group: Group = { ready: new Set(), inFlight: new Set(), servedAt: 0 }
    groups.set(key, group)
    return group
  }

  const prune = (message: Message, group: Group) => {
    if (group.ready.size === 0 && group.inFlight.size === 0) groups.delete(message.groupId ?? '')
  }

  return {
    ready: (message) => {
      groupOf(message).ready.add(message)
    },
    next: () => {
      let best: Group | undefined
      for (const group of groups.values()) {
        if (group.ready.size === 0) continue
        const load = group.inFlight.size - (best?.inFlight.size ?? Number.POSITIVE_INFINITY)
        if (!best || load < 0 || (load === 0 && group.servedAt < best.servedAt)) best = group
      }
      const [message] = best?.ready ?? []
      if (!best || !message) return undefined
      turn += 1
      best.servedAt = turn
      best.ready.delete(message)
      return message
    },
    hold: (message) => {
      groupOf(message).inFlight.add(message.id)
    },
    release: (message) => {
      const group = groupOf(message)
      group.inFlight.delete(message.id)
      prune(message, group)
    },
    forget: (message) => {
      const group = groupOf(message)
      group.ready.delete(message)
      group.inFlight.delete(message.id)
      prune(message, group)
    },
    size: () => {
      let total = 0
      for (const group of groups.values()) total += group.ready.size
      return total
    },
  }
}
