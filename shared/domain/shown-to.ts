/**
 * What is somebody's alone (`private_to`) is shown to nobody else.
 * @param viewer the person who looks; undefined for who sees everything, such as the agent itself
 */
export const shownTo = (viewer: string | undefined, { private_to }: { private_to?: string | undefined }): boolean =>
  viewer === undefined || private_to === undefined || private_to === viewer
