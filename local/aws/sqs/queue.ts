import { randomUUID } from 'node:crypto'
import type { Jumps } from '../../jumps.ts'
import type { QueueModel } from '../../template/model.ts'
import { createFairGroups, type FairGroups } from './fair.ts'
import type { Message, MessageAttribute, MessageStore } from './store.ts'

/** A message as its sender specifies it. */
export interface Outgoing {
  body: string
  attributes?: Record<string, MessageAttribute>
  groupId?: string | undefined
  /** Overrides the queue's own delay. */
  delaySeconds?: number | undefined
}

/** Options of a receive. */
export interface ReceiveOptions {
  /** 1 to 10. */
  max: number
  visibilitySeconds?: number | undefined
  /** Duration of a long poll. */
  waitMs?: number
  signal?: AbortSignal
}

/** A standard queue: delays, visibility, receive counts, dead letters, fair groups, long poll. */
export interface Queue {
  readonly model: QueueModel
  send(message: Outgoing): Message
  receive(options: ReceiveOptions): Promise<Message[]>
  /** Deletes a message. As on AWS, an outdated handle deletes nothing. */
  delete(receipt: string): void
  /** Returns true if the handle has the form of this queue's. Its message may be deleted. */
  issued(receipt: string): boolean
  /** Changes the timeout only if the message is in flight under that handle. */
  changeVisibility(receipt: string, seconds: number): 'changed' | 'not in flight' | 'deleted'
  purge(): void
  counts(): { visible: number; inFlight: number; delayed: number }
  /** Returns the age in ms of the oldest undeleted message; 0 if there is none. */
  oldestMs(): number
  /** Accepts a message from the queue whose redrive policy names this one. */
  accept(message: Message): void
  stop(): void
}

/** Dependencies of a queue. */
export interface QueueDeps {
  store: MessageStore
  now: () => number
  /** Finds the dead-letter queue. */
  byArn: (arn: string) => Queue | undefined
  /** Called with the error of a write that nobody waits for. */
  onError: (error: unknown) => void
  jumps: Pick<Jumps, 'look' | 'onJump'>
}

/** Pause after a receive that couldn't be stored. */
const RETRY_MS = 1_000

interface Waiter {
  options: ReceiveOptions
  settle: (messages: Message[]) => void
}

/** Creates a queue with the messages that the store still holds. */
export const createQueue = (model: QueueModel, deps: QueueDeps): Queue => {
  const { store, now } = deps
  const messages = new Map<string, Message>()
  /** Delayed or in-flight messages. Each waits for its `visibleAt`. */
  const waiting = new Map<string, Message>()
  const groups: FairGroups = createFairGroups()
  const waiters = new Set<Waiter>()
  let timer: NodeJS.Timeout | undefined
  /** Set after a receive that couldn't be stored. Nothing is received until then. */
  let retry: NodeJS.Timeout | undefined
  let timerAt = Number.POSITIVE_INFINITY

  const drop = (message: Message) => {
    messages.delete(message.id)
    waiting.delete(message.id)
    groups.forget(message)
  }

  const wakeAt = (at: number) => {
    if (at >= timerAt) return
    clearTimeout(timer)
    timerAt = at
    timer = setTimeout(tick, Math.min(Math.max(at - now(), 0), 2 ** 31 - 1))
    timer.unref()
  }

  const place = (message: Message) => {
    messages.set(message.id, message)
    if (message.visibleAt > now()) {
      waiting.set(message.id, message)
      wakeAt(message.visibleAt)
    } else groups.ready(message)
  }

  const promote = () => {
    deps.jumps.look()
    const time = now()
    if (time < timerAt) return
    let next = Number.POSITIVE_INFINITY
    for (const message of waiting.values()) {
      if (message.visibleAt > time) next = Math.min(next, message.visibleAt)
      else {
        waiting.delete(message.id)
        groups.release(message)
        groups.ready(message)
      }
    }
    timerAt = Number.POSITIVE_INFINITY
    if (next < Number.POSITIVE_INFINITY) wakeAt(next)
  }

  const tick = () => {
    // A timer may fire slightly before the clock reaches its time. Messages that aren't due yet get another timer.
    timerAt = 0
    promote()
    serve()
  }

  const usable = (message: Message): boolean => {
    if (now() - message.sentAt > model.retentionSeconds * 1_000) {
      store.remove(message.id)
      drop(message)
      return false
    }
    const target = model.redrive && message.receives >= model.redrive.maxReceives && deps.byArn(model.redrive.targetArn)
    if (!target) return true
    target.accept({ ...message, deadLetterSource: model.arn })
    drop(message)
    return false
  }

  /** Stores that a message is received. @returns false if it was removed instead */
  const hold = (message: Message, visibilitySeconds = model.visibilitySeconds): boolean => {
    if (!usable(message)) return false
    const received = {
      receives: message.receives + 1,
      firstReceivedAt: message.firstReceivedAt ?? now(),
      receipt: `${message.id}.${randomUUID()}.${model.name}`,
      visibleAt: now() + visibilitySeconds * 1_000,
    }
    store.save(model.name, { ...message, ...received })
    Object.assign(message, received)
    groups.hold(message)
    waiting.set(message.id, message)
    wakeAt(message.visibleAt)
    return true
  }

  const take = ({ max, visibilitySeconds }: ReceiveOptions): Message[] => {
    const taken: Message[] = []
    while (taken.length < max && !retry) {
      const message = groups.next()
      if (!message) break
      try {
        if (hold(message, visibilitySeconds)) taken.push(message)
      } catch (error) {
        // It wasn't received: a message whose receives aren't counted would be delivered for ever.
        groups.ready(message)
        retry = setTimeout(() => {
          retry = undefined
          serve()
        }, RETRY_MS)
        retry.unref()
        deps.onError(error)
      }
    }
    return taken
  }

  const serve = () => {
    for (const waiter of waiters) {
      const taken = take(waiter.options)
      if (taken.length === 0) return
      waiter.settle(taken)
    }
  }

  const messageOf = (receipt: string) => messages.get(receipt.split('.')[0] ?? '')

  const held = (receipt: string): Message | undefined => {
    const message = messageOf(receipt)
    return message?.receipt === receipt ? message : undefined
  }

  const receive = (options: ReceiveOptions): Promise<Message[]> => {
    promote()
    const taken = take(options)
    if (taken.length > 0 || !options.waitMs || options.signal?.aborted) return Promise.resolve(taken)
    return new Promise((resolve) => {
      const settle = (result: Message[]) => {
        waiters.delete(waiter)
        clearTimeout(limit)
        options.signal?.removeEventListener('abort', giveUp)
        resolve(result)
      }
      const giveUp = () => settle([])
      const waiter: Waiter = { options, settle }
      const limit = setTimeout(giveUp, options.waitMs)
      options.signal?.addEventListener('abort', giveUp)
      waiters.add(waiter)
    })
  }

  deps.jumps.onJump((ms) => {
    // Their workers were stopped, too.
    for (const message of waiting.values()) if (message.receipt) message.visibleAt += ms
  })

  for (const message of store.load(model.name)) {
    place(message)
    if (waiting.has(message.id) && message.receipt) groups.hold(message)
  }

  return {
    model,
    receive,
    send: ({ body, attributes = {}, groupId, delaySeconds = model.delaySeconds }) => {
      const sentAt = now()
      const message: Message = {
        id: randomUUID(),
        body,
        attributes,
        groupId,
        sentAt,
        visibleAt: sentAt + delaySeconds * 1_000,
        receives: 0,
        firstReceivedAt: undefined,
        receipt: undefined,
        deadLetterSource: undefined,
      }
      store.save(model.name, message)
      place(message)
      serve()
      return message
    },
    delete: (receipt) => {
      const message = held(receipt)
      if (!message) return
      drop(message)
      store.remove(message.id)
    },
    changeVisibility: (receipt, seconds) => {
      const message = held(receipt)
      if (!message || !waiting.has(message.id)) return messageOf(receipt) ? 'not in flight' : 'deleted'
      const visibleAt = now() + seconds * 1_000
      store.save(model.name, { ...message, visibleAt })
      message.visibleAt = visibleAt
      wakeAt(message.visibleAt)
      if (seconds === 0) tick()
      return 'changed'
    },
    issued: (receipt) => /^[\da-f-]{36}\.[\da-f-]{36}\.(.+)$/.exec(receipt)?.[1] === model.name,
    purge: () => {
      for (const message of [...messages.values()]) {
        store.remove(message.id)
        drop(message)
      }
    },
    counts: () => {
      promote()
      const inFlight = [...waiting.values()].filter((message) => message.receipt !== undefined).length
      return { visible: groups.size(), inFlight, delayed: waiting.size - inFlight }
    },
    oldestMs: () => {
      const sent = [...messages.values()].map((message) => message.sentAt)
      return sent.length === 0 ? 0 : Math.max(0, now() - Math.min(...sent))
    },
    accept: (message) => {
      // As on AWS, the age still counts from the first send, and the receive count restarts for this queue's own
      // policy.
      const moved = { ...message, visibleAt: now(), receives: 0, firstReceivedAt: undefined, receipt: undefined }
      store.save(model.name, moved)
      place(moved)
      serve()
    },
    stop: () => {
      clearTimeout(timer)
      clearTimeout(retry)
      for (const waiter of [...waiters]) waiter.settle([])
    },
  }
}
