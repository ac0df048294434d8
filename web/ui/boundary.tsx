import { Component, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from './messages.ts'
import { Prose } from './text.tsx'

interface Properties {
  /** What the children show. They are rendered again when it changes. */
  about: unknown
  fallback: (retry: () => void) => ComponentChildren
  children: ComponentChildren
}

/** Shows a fallback for children that throw while they render, so that the rest of the page stays. */
export class Boundary extends Component<Properties, { failed?: { about: unknown } | undefined }> {
  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ failed: { about: this.props.about } })
  }

  override render({ about, fallback, children }: Properties): ComponentChildren {
    const { failed } = this.state
    return failed && failed.about === about ? fallback(() => this.setState({ failed: undefined })) : children
  }
}

/** Says that something couldn't be shown. */
export const Unshown = ({ title, retry }: { title: string; retry: () => void }) => (
  <div class="problem" role="alert">
    <p>
      <strong>{title}</strong> {t('The rest of the page still works.')}
    </p>
    <button type="button" onClick={retry}>
      {t('Try again')}
    </button>
  </div>
)

const Unformatted = ({ text }: { text: () => string }) => {
  const [isShown, setShown] = useState(false)
  if (isShown) return <Prose text={text()} />
  return (
    <div class="note warn">
      <p>{t('This text can’t be shown with its formatting.')}</p>
      <button type="button" onClick={() => setShown(true)}>
        {t('Show as plain text')}
      </button>
    </div>
  )
}

/**
 * Frames formatted text of an app or a person. If formatting it throws, the reader can have it as plain text.
 * @param about the text, or the value that it is made from
 */
export const Foreign = ({
  about,
  text,
  children,
}: {
  about: unknown
  text: () => string
  children: ComponentChildren
}) => (
  <Boundary about={about} fallback={() => <Unformatted text={text} />}>
    {children}
  </Boundary>
)
