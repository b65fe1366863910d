/** Elements without markup: every text is text. */

/**
 * Make an element. Names that begin with "on" are listeners, other names are properties
 * if the element has them, else attributes. Children are nodes or texts.
 */
export function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Show a text; hide the element when there is none. Touch nothing that stays as it is. */
export function say(node, text) {
  const value = text ?? "";
  if (node.textContent !== value) node.textContent = value;
  node.hidden = value === "";
}

/** Keep one child per item, in order, by the items' ids; what stays keeps its focus and input. */
export function keep(parent, items, make, update) {
  const children = (parent.kept ??= new Map());
  const ids = new Set(items.map((item) => item.id));
  for (const [id, child] of children) {
    if (ids.has(id)) continue;
    child.remove();
    children.delete(id);
  }
  items.forEach((item, index) => {
    let child = children.get(item.id);
    if (!child) children.set(item.id, (child = make(item)));
    if (parent.children[index] !== child) {
      parent.insertBefore(child, parent.children[index] ?? null);
    }
    update(child, item);
  });
}
