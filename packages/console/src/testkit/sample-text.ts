// A text with every kind of block that Markdown has.

export const sampleText = `# Heading

Some **bold**, *thin* and \`code\`, [a link](https://good.example), https://good.example
and a line that goes on.

Setext
------

- one
- two

  with more
  1. nested
  2. twice
- [ ] three

> quoted
> > deeper

| a | b |
|:--|--:|
| 1 | 2 |

\`\`\`ts
const text = "\`\`";

  ~~~
\`\`\`

~~~
tilde
~~~

    indented

***

Hard\x20\x20
break

3. third
4. fourth
`;
