import { useEffect, useRef, useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { refresh, usePages } from '../../../ui/data.ts'
import { Icon } from '../../../ui/icons.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown, Skeleton } from '../../../ui/screen.tsx'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'
import { type Message, Messages } from '../ui/messages.tsx'
import { upload } from '../upload.ts'

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

const Compose = ({ id, name }: { id: string; name: string }) => {
  const [text, setText] = useState('')
  const [files, setFiles] = useState<{ id: string; name: string }[]>([])
  const picker = useRef<HTMLInputElement>(null)
  const { busy, failure, act } = useAction()
  const send = () =>
    act(async () => {
      const body = { text: text.trim(), attachments: files.map((file) => file.id) }
      await unwrap(api.POST('/console/conversations/{id}/messages', { params: { path: { id } }, body }))
      setText('')
      setFiles([])
      await refresh('messages')
      pollNow()
    })
  const attach = (list: FileList | null) =>
    act(async () => {
      for (const file of list ?? []) {
        const made = await upload(file)
        setFiles((before) => [...before, { id: made.id, name: made.name }])
      }
      if (picker.current) picker.current.value = ''
    })
  return (
    <form
      class="compose"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) void send()
      }}
    >
      {failure && <Problem failure={failure} />}
      {files.length > 0 && (
        <ul class="tags">
          {files.map((file) => (
            <li key={file.id}>
              <Name>{file.name}</Name>{' '}
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${file.name}`}
                onClick={() => setFiles((before) => before.filter((one) => one.id !== file.id))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
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
        <input ref={picker} type="file" multiple hidden onChange={(event) => attach(event.currentTarget.files)} />
        <button type="button" aria-label="Attach files" onClick={() => picker.current?.click()}>
          <Icon name="attach" />
        </button>
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
    if (newest) end.current?.scrollIntoView({ block: 'end' })
  }, [newest])
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
              <Messages items={said} />
              {waiting && conversation.kind !== 'task' && (
                <p class="soft working">
                  <span class="dots" aria-hidden="true" />
                  <Name>{answered_by?.name ?? 'The agent'}</Name> is working on it.{' '}
                  <a href={`#/runs/${waiting.run_id}`}>Watch</a>
                </p>
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

export default function Chat({ id }: { id?: string }) {
  const chats = usePages<Conversation>('messages chats', (cursor) =>
    unwrap(api.GET('/console/conversations', { params: { query: cursor ? { cursor } : {} } })),
  )
  const all = chats.items ?? []
  // Wide windows open the main conversation at once; narrow ones show the list first.
  const chosen = id ? all.find((one) => one.id === id) : all[0]
  return (
    <Screen title="Conversations" wide {...(id && { back: { to: '/chat', label: 'All conversations' } })}>
      <Shown known={chats} rows={4}>
        {({ items }) => (
          <div class={id ? 'talk chosen' : 'talk'}>
            <div class="list">
              <ul class="rows">
                {items.map((one) => (
                  <li key={one.id}>
                    <a
                      class="row"
                      href={`#/chat/${one.id}`}
                      {...(one === chosen && { 'aria-current': 'true' as const })}
                    >
                      <Logo name={nameOf(one)} path={one.answered_by?.logo_path} />
                      <span class="grow">
                        <strong class="line">
                          <Name>{nameOf(one)}</Name>
                        </strong>
                        <span class="soft line">
                          {one.kind === 'task'
                            ? 'Task'
                            : one.kind === 'main'
                              ? sanitize(one.answered_by?.name ?? '')
                              : 'Agent'}
                          {one.last_message_at && (
                            <>
                              {' '}
                              · <When at={one.last_message_at} />
                            </>
                          )}
                        </span>
                      </span>
                    </a>
                  </li>
                ))}
              </ul>
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
              id && (chats.more ? <Search id={id} more={chats.more} /> : <Empty title="Conversation not found" />)
            )}
          </div>
        )}
      </Shown>
    </Screen>
  )
}

/** Loads more pages until the conversation is found. */
const Search = ({ more }: { id: string; more: () => Promise<void> }) => {
  useEffect(() => {
    void more()
  }, [more])
  return <Skeleton />
}
