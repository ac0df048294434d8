import { useEffect, useRef, useState } from 'preact/hooks'
import type { Failure } from '../../../session/failure.ts'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { identity, isAdmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { followRun } from '../follow-run.ts'
import { pollNow } from '../live.ts'
import { AttachButton, Attached, type AttachedFile } from '../ui/attach.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { type Message, Messages } from '../ui/messages.tsx'

type Conversation = Schemas['PersonConversation']

const nameOf = ({ kind, title, answered_by }: Conversation): string =>
  sanitize(kind === 'main' ? 'Main conversation' : kind === 'agent' ? (answered_by?.name ?? title) : title)

/** Finds the user's latest message if its run hasn't answered yet. */
const unanswered = (items: readonly Message[]): Message | undefined => {
  const last = [...items].reverse().find(({ author }) => author.type === 'user')
  if (!last?.run_id) return undefined
  const answered = items.some(({ author, run_id }) => author.type !== 'user' && run_id === last.run_id)
  return answered ? undefined : last
}

/** Sends a message and shows it. */
const say = async (id: string, body: { text: string; attachments: string[] }): Promise<void> => {
  await unwrap(api.POST('/console/conversations/{id}/messages', { params: { path: { id } }, body }))
  await refresh('messages')
  pollNow()
}

/** Joins what the agent has written so far: a message with `append` continues the one before. */
const joined = (steps: ReadonlyMap<string, Schemas['RunStep']>): string =>
  [...steps.values()]
    .filter(({ type }) => type === 'message')
    .sort((a, b) => a.seq - b.seq)
    .reduce((text, { output }) => {
      const { text: more, append } = (output ?? {}) as { text?: unknown; append?: unknown }
      if (typeof more !== 'string') return text
      return append === true ? text + more : more
    }, '')

/** An answer that is still being written, as far as the agent has reported it, with a button that stops it. */
const Answering = ({ runId, name }: { runId: string; name: string }) => {
  const [text, setText] = useState('')
  const { busy, failure, act } = useAction()
  useEffect(() => {
    const steps = new Map<string, Schemas['RunStep']>()
    const stop = new AbortController()
    void followRun(
      runId,
      {
        step(step) {
          steps.set(step.id, step)
          setText(joined(steps))
        },
        state({ status }) {
          if (status === 'succeeded' || status === 'failed' || status === 'cancelled') pollNow()
        },
        gap() {},
        connected() {},
      },
      stop.signal,
    )
    return () => stop.abort()
  }, [runId])
  const stop = () =>
    act(async () => {
      await unwrap(api.POST('/console/runs/{id}/cancel', { params: { path: { id: runId } } }))
      await refresh('messages', 'runs')
    })
  return (
    <>
      {text && (
        <div class="message partial">
          <p class="by">
            <b>
              <Name>{name}</Name>
            </b>
            <span>is writing</span>
          </p>
          <Markdown text={text} />
        </div>
      )}
      {failure && <Problem failure={failure} />}
      <p class="soft working">
        <span class="dots" aria-hidden="true" />
        <span>
          <Name>{name}</Name> is working on it.
        </span>
        <a href={`#/runs/${runId}`}>Watch</a>
        <button type="button" class="quiet small" aria-busy={busy} onClick={stop}>
          Stop
        </button>
      </p>
    </>
  )
}

/** What to do about a message without an answer. */
const NoReply = ({ failed, items, id }: { failed: Message; items: readonly Message[]; id: string }) => {
  const { busy, failure, act } = useAction()
  const asked = items.find(({ author, run_id }) => author.type === 'user' && run_id === failed.run_id)
  return (
    <>
      {failed.error_code === 'llm_not_configured' && (
        <p>
          {isAdmin.value ? (
            <>
              <a href="#/settings">Choose an agent for the main conversation</a> in the settings, or ask the platform’s
              operator to configure a language model.
            </>
          ) : (
            'Ask an admin of this workspace to choose an agent for the main conversation.'
          )}
        </p>
      )}
      {failure && <Problem failure={failure} />}
      {asked && (
        <p>
          <button
            type="button"
            aria-busy={busy}
            onClick={() =>
              act(() => say(id, { text: asked.text, attachments: asked.attachments.map(({ file_id }) => file_id) }))
            }
          >
            Try again
          </button>
        </p>
      )}
    </>
  )
}

const Compose = ({ id, name }: { id: string; name: string }) => {
  const [text, setText] = useState('')
  const [files, setFiles] = useState<AttachedFile[]>([])
  const [problem, setProblem] = useState<Failure>()
  const { busy, failure, act } = useAction()
  const send = () =>
    act(async () => {
      await say(id, { text: text.trim(), attachments: files.map((file) => file.id) })
      setText('')
      setFiles([])
    })
  return (
    <form
      class="compose"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) void send()
      }}
    >
      {(failure ?? problem) && <Problem failure={(failure ?? problem) as Failure} />}
      <Attached files={files} onRemove={setFiles} />
      <div class="line">
        <label class="unseen" for="message">
          Message to {name}
        </label>
        <textarea
          id="message"
          rows={1}
          placeholder={`Message to ${name}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter sends and Shift+Enter breaks the line, except while an input method composes.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            if (text.trim()) void send()
          }}
        />
        <AttachButton
          failure={problem}
          onFailure={setProblem}
          onFile={(file) => setFiles((before) => [...before, file])}
        />
        <button type="submit" class="primary" aria-busy={busy}>
          Send
        </button>
      </div>
    </form>
  )
}

const ConversationView = ({ conversation }: { conversation: Conversation }) => {
  const { id, answered_by } = conversation
  const messages = usePages<Message>(`messages of ${id}`, (cursor) =>
    unwrap(
      api.GET('/console/conversations/{id}/messages', {
        params: { path: { id }, query: cursor ? { cursor } : {} },
      }),
    ),
  )
  const end = useRef<HTMLDivElement>(null)
  const newest = messages.items?.[0]?.id
  useEffect(() => {
    if (!newest) return
    end.current?.scrollIntoView({ block: 'end' })
    const path = { id }
    // Who can't be reached now reads it again later.
    void api.PUT('/console/conversations/{id}/read', { params: { path }, body: { message_id: newest } }).then(
      () => refresh('messages chats'),
      () => {},
    )
  }, [newest, id])
  const name = nameOf(conversation)
  return (
    <section aria-labelledby="with">
      <div class="head">
        <h2 id="with">
          <Name>{name}</Name>
        </h2>
        {conversation.task_id && (
          <a class="button" href={`#/tasks/${conversation.task_id}`}>
            View task
          </a>
        )}
      </div>
      <More more={messages.more} />
      <Shown known={messages} rows={4}>
        {({ items }) => {
          const said = [...items].reverse()
          const waiting = unanswered(said)
          return (
            <div aria-live="polite">
              {said.length === 0 && (
                <Empty title="No messages yet">
                  <p>{answered_by ? `Send ${sanitize(answered_by.name)} a message.` : 'Write the first message.'}</p>
                </Empty>
              )}
              <Messages
                items={said}
                after={(message) =>
                  message.error_code && message.author.type !== 'user' && conversation.kind !== 'task' ? (
                    <NoReply failed={message} items={said} id={id} />
                  ) : null
                }
              />
              {waiting?.run_id && conversation.kind !== 'task' && (
                <Answering key={waiting.run_id} runId={waiting.run_id} name={answered_by?.name ?? 'The agent'} />
              )}
            </div>
          )
        }}
      </Shown>
      {conversation.kind === 'task' ? (
        <p>
          <a href={`#/tasks/${conversation.task_id}`}>Reply on the task page</a>
        </p>
      ) : (
        <Compose key={id} id={id} name={sanitize(answered_by?.name ?? name)} />
      )}
      <div ref={end} />
    </section>
  )
}

const preview = ({ last_message }: Conversation): string => {
  if (!last_message) return 'No messages yet'
  const { author, text } = last_message
  return sanitize(author.id === identity.value?.user.id ? `You: ${text}` : text)
}

const Entry = ({ one, chosen }: { one: Conversation; chosen: boolean }) => (
  <li>
    <a class="row" href={`#/chat/${one.id}`} {...(chosen && { 'aria-current': 'true' as const })}>
      <Logo name={nameOf(one)} path={one.kind === 'task' ? undefined : one.answered_by?.logo_path} />
      <span class="grow">
        <strong class="line">
          <Name>{nameOf(one)}</Name>
        </strong>
        <span class="soft line">{preview(one)}</span>
      </span>
      <span class="beside-name soft">
        {one.last_message_at && <When at={one.last_message_at} />}
        {one.unread && (
          <span class="dot">
            <span class="unseen">Unread</span>
          </span>
        )}
      </span>
    </a>
  </li>
)

/** Conversations about an agent's tasks, folded. */
const Tasks = ({
  name,
  items,
  chosen,
}: {
  name: string
  items: readonly Conversation[]
  chosen: string | undefined
}) => {
  const unread = items.filter((one) => one.unread).length
  return (
    <details class="folded" open={items.some(({ id }) => id === chosen)}>
      <summary>
        {name} <span class="soft">{items.length}</span>
        {unread > 0 && <span class="count">{unread}</span>}
        {unread > 0 && <span class="unseen"> unread</span>}
      </summary>
      <ul class="rows">
        {items.map((one) => (
          <Entry key={one.id} one={one} chosen={one.id === chosen} />
        ))}
      </ul>
    </details>
  )
}

/** Groups the conversations of tasks by the agent that has the task. */
const byAgent = (tasks: readonly Conversation[]): [name: string, items: Conversation[]][] => {
  const groups = new Map<string, [string, Conversation[]]>()
  for (const one of tasks) {
    const { installation_id, name } = one.answered_by ?? { installation_id: '', name: '' }
    const group = groups.get(installation_id ?? '') ?? [
      name ? `Tasks of ${sanitize(name)}` : 'Tasks without an agent',
      [],
    ]
    group[1].push(one)
    groups.set(installation_id ?? '', group)
  }
  return [...groups.values()]
}

/** Text without case and accents, for comparison. */
const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

export default function Chat({ id }: { id?: string }) {
  const chats = usePages<Conversation>('messages chats', (cursor) =>
    unwrap(api.GET('/console/conversations', { params: { query: { limit: 100, ...(cursor && { cursor }) } } })),
  )
  const [text, setText] = useState('')
  const all = chats.items ?? []
  const wanted = folded(text.trim())
  const found = all.filter((one) => folded(`${nameOf(one)} ${one.last_message?.text ?? ''}`).includes(wanted))
  // Wide windows open the main conversation at once; narrow ones show the list first.
  const chosen = id ? all.find((one) => one.id === id) : all[0]
  return (
    <Screen title="Conversations" wide {...(id && { back: { to: '/chat', label: 'All conversations' } })}>
      <Shown known={chats} rows={4}>
        {() => (
          <div class={id ? 'talk chosen' : 'talk'}>
            <div class="list">
              <label class="unseen" for="find-conversation">
                Search conversations
              </label>
              <input
                id="find-conversation"
                type="search"
                placeholder="Search conversations"
                autocomplete="off"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
              <ul class="rows">
                {found
                  .filter(({ kind }) => kind !== 'task')
                  .map((one) => (
                    <Entry key={one.id} one={one} chosen={one === chosen} />
                  ))}
              </ul>
              {byAgent(found.filter(({ kind }) => kind === 'task')).map(([name, items]) => (
                <Tasks key={name} name={name} items={items} chosen={chosen?.id} />
              ))}
              {wanted && found.length === 0 && <p class="soft">No conversation matches.</p>}
              <More more={chats.more} />
              <p>
                <a href="#/agents">Start a conversation with another agent</a>
              </p>
            </div>
            {chosen ? (
              <div class={id ? '' : 'beside'}>
                <ConversationView key={chosen.id} conversation={chosen} />
              </div>
            ) : (
              id && <Elsewhere id={id} />
            )}
          </div>
        )}
      </Shown>
    </Screen>
  )
}

/** A conversation that isn't on the loaded pages of the list. */
const Elsewhere = ({ id }: { id: string }) => {
  const one = useData<Conversation>(`messages one ${id}`, () =>
    unwrap(api.GET('/console/conversations/{id}', { params: { path: { id } } })),
  )
  return (
    <Shown known={one} rows={4}>
      {(conversation) => <ConversationView conversation={conversation} />}
    </Shown>
  )
}
