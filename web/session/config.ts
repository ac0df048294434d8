/** What the server wrote into the page: which of its two entries this is, where the platform is, and how one may sign in. */
const { name = 'Console', entry, root = './', localSignIn: local, loginWidget: widget } = document.body.dataset

/** What the page is called, for its title. */
export const pageName = name
/** Inside the messaging app. */
export const miniApp = entry === 'mini_app'
/** Anybody may sign in as anybody: local development. */
export const localSignIn = local === 'true'
/** The messenger's login widget can exist here; the page's policy allows it then. */
export const loginWidget = widget === 'true'

const base = new URL(root, location.href.replace(/[?#].*$/s, ''))

/** An address of the platform, which may lie below any path. */
export const at = (path: string): string => new URL(path, base).href
