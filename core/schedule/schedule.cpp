#include "core/schedule/schedule.hpp"

#include <utility>

namespace tcsim {

Node::Node(Loop loop) : is(std::move(loop)) {}
Node::Node(Seq seq) : is(std::move(seq)) {}
Node::Node(Move move) : is(std::move(move)) {}
Node::Node(Kernel kernel) : is(kernel) {}
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

}  // namespace tcsim
